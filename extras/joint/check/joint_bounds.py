"""Lower bounds on runs of several collectives at once: lengths of links under which all that has to travel is long.

A bound is a document {"collectives", "length", "value"}. Its value is a number of cycles, as text: what these collectives take from
the first cycle in which one of them may start. `length` has a whole number for each link. A bound on one collective may have `time`
in its place, a bound on the time of its run alone (`certree.verify.bounds.timed`) that holds for every schedule: less the start of
the interfaces it counts from the collective's own start, as everything else that runs can only delay it.

*Proof.* Let d_j be the granules of collective j, and c_j the least that the transfers of one chunk cover under these lengths
(`certree.verify.bounds.witnesses.metric`, whose proof is for one chunk at a time, whatever else is on the links; for a broadcast
and a reduce the larger of that and of `rooted_lengths`, which counts directions). All granules of all these collectives then
cover the sum of d_j · c_j, and the links offer sum(capacity · length) in each cycle of a granule. A message is fired in or after
the first cycle in which one of the collectives may start; between that and its arrival at the last node are the latency of a route
and the cycles of a header, as in the proof of `certree.verify.bounds.times.load`. Nothing is assumed of the schedule of any
collective: any chunks, shares, routes, relays and buffers, slotted or paced.

*Starts.* A collective that waits for others starts no earlier than each of them can have ended. So a bound counts from the earliest
such cycle of its collectives (`earliest`), which follows from the bounds on single collectives.

*Late members.* A member that takes part from a cycle on has sent nothing before it. In an all-reduce and a reduce all of its
granules leave it once at least, in an all-reduce and a broadcast all reach it; so a collective ends no earlier than these have
passed its links after that cycle. Such bounds follow from the collectives, and need no witness.

*Weighted ends.* By the same count the collectives that end first, in any order, take together what they need: the sum of weight ·
end is at least that of one machine with the works p_j = d_j · c_j / sum(capacity · length), in the order of p_j / weight (W. Smith,
1956). The witness is the lengths of a bound on all collectives.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.extras.joint.check.rooted_lengths import MOST_NODES, rooted_length
from certree.extras.joint.model.collective_list import Entry
from certree.models.common.errors import short
from certree.models.common.fields import Fields
from certree.models.machine.machine import Machine
from certree.models.network.topology import NodeKind, Topology
from certree.models.schedule.collective import CollectiveKind
from certree.verify.bounds.classes import ordered, restrictions
from certree.verify.bounds.instance import Instance
from certree.verify.bounds.timed import TimeInstance, check_time_bound
from certree.verify.bounds.witness import WitnessError, malformed
from certree.verify.bounds.witnesses.metric import link_numbers, needed_length, total
from certree.verify.rule import Subject, rule

Int64 = NDArray[np.int64]
_ALL_SEND, _ALL_GET = (CollectiveKind.ALL_REDUCE, CollectiveKind.REDUCE), (CollectiveKind.ALL_REDUCE, CollectiveKind.BROADCAST)
_WHOLE = re.compile("[0-9]{1,30}")
_ROOTED = CollectiveKind.BROADCAST, CollectiveKind.REDUCE
_EXAMPLE = "tests/extras/joint/check/test_joint_checks.py"


@dataclass(frozen=True, eq=False)
class Together:
    """Collectives on a network and machine, each behind those that it waits for."""

    topology: Topology
    machine: Machine
    entries: tuple[Entry, ...]

    @cached_property
    def instances(self) -> dict[str, TimeInstance]:
        """The instances that bounds on single collectives are for, by the name of the collective."""
        return {
            entry.name: TimeInstance(Instance(self.topology, entry.collective), entry.size, self.machine) for entry in self.entries
        }

    @property
    def terms(self) -> list[str]:
        """The class of the bounds (`certree.verify.bounds.classes`)."""
        other = (self.topology.kind == NodeKind.SWITCH) & ~self.topology.reducing
        return ordered(["no coding", "machine", *(["switches only forward"] if other.any() else [])])

    def works(self, names: Sequence[str], length: Int64) -> dict[str, Fraction]:
        """Cycles for which each collective fills all links, weighted by their lengths. O(endpoints · links · hops) each."""
        found = {}
        for name in names:
            of = self.instances[name]
            exact = of.exact.topology
            volume = total(exact.capacity.astype(np.int64) * length)
            if not volume:
                raise WitnessError("joint-bound", "a joint bound whose links all have length 0 bounds nothing")
            found[name] = self._needed(name, length) / volume * exact.scale * of.granules
        return found

    def _needed(self, name: str, length: Int64) -> Fraction:
        """The distance that the transfers of a chunk must cover."""
        of = self.instances[name].exact
        kind, root, nodes = of.collective.kind, of.collective.root, len(of.topology.kind)
        either = needed_length(of, length)
        if root is None or kind not in _ROOTED or nodes > MOST_NODES:
            return either
        members = of.collective.members_of(of.topology).tolist()
        directed = rooted_length(of.topology, length, root, members, inward=kind is CollectiveKind.REDUCE)
        return max(either, Fraction(directed))

    def after_late(self, entry: Entry) -> int:
        """The first cycle in which a collective can end, since its late members send and get all of it. O(late · links)."""
        if not entry.late:
            return 0
        of, kind = self.instances[entry.name], entry.collective.kind
        exact, latest = of.exact.topology, 0
        for node, cycle in entry.late:
            for sides, ends, delay in (
                (exact.src, kind in _ALL_SEND and node != entry.collective.root, self._ends(entry.name)),
                (exact.dst, kind in _ALL_GET and node != entry.collective.root, 0),
            ):
                if ends:
                    capacity = total(exact.capacity[sides == node].astype(np.int64))
                    latest = max(latest, cycle + delay + math.ceil(Fraction(of.granules * exact.scale, capacity)))
        return latest

    def value(self, names: Sequence[str], length: Int64) -> int:
        """The number of cycles that these collectives take under these lengths, from the first cycle in which one of them may
        start."""
        least = min(self._ends(name) for name in names)
        return least + math.ceil(sum(self.works(names, length).values()))

    def _ends(self, name: str) -> int:
        """The number of cycles between a firing and an arrival that no granule uses."""
        of = self.instances[name]
        return of.near + of.header

    def checked(self, bound: Any) -> int:
        """The value of a bound, once its witness proves that much or more; WitnessError."""
        fields = Fields(bound, "joint bound", malformed)
        if "time" in fields:
            return self._checked_alone(fields)
        fields.only("collectives", "class", "length", "value")
        names = fields.texts("collectives", known=self.instances)
        if len(set(names)) < len(names):
            fields.refuse("collectives names one twice")
        length = link_numbers(self.topology, "joint", "length", fields.raw("length"))
        shown, stated = self.value(names, length), fields.text("value")
        if not _WHOLE.fullmatch(stated) or int(stated) > shown:
            raise WitnessError("joint-bound", f"the lengths show {shown} cycles for {_some(names)}, not {short(stated)}")
        if fields.raw("class") != self.terms:
            raise WitnessError("joint-bound", f"a joint bound has the class {', '.join(self.terms)} here")
        return int(stated)

    def _checked_alone(self, fields: Fields) -> int:
        """The value of a bound on one collective, from a bound on the time of its run alone that holds for every schedule."""
        names = fields.only("collectives", "class", "time", "value").texts("collectives", known=self.instances)
        if len(names) != 1:
            raise WitnessError("joint-bound", f"a time bound is for one collective, not for {len(names)}")
        of, time = self.instances[names[0]], fields.table_of("time").table
        shown = check_time_bound(of, time) - self.machine.ni_start_cycles
        if "class" not in time or restrictions(time["class"]) or fields.raw("class") != time["class"]:
            raise WitnessError("joint-bound", f"the time bound of {names[0]} must hold for every schedule, and have the same class")
        if fields.text("value") != str(shown):
            raise WitnessError("joint-bound", f"the time bound shows {shown} cycles for {names[0]}, not {fields.text('value')}")
        return shown

    def alone(self, name: str, time: Mapping[str, Any]) -> dict[str, Any] | None:
        """The bound on a collective that follows from one on the time of its run; None where that holds for some schedules only."""
        if restrictions(time["class"]):
            return None
        value = str(check_time_bound(self.instances[name], time) - self.machine.ni_start_cycles)
        return {"collectives": [name], "class": time["class"], "time": dict(time), "value": value}

    def document(self, names: Sequence[str], length: Int64) -> dict[str, Any]:
        """The bound of these lengths."""
        value = str(self.value(names, length))
        return {"collectives": list(names), "class": self.terms, "length": length.tolist(), "value": value}


@dataclass(frozen=True)
class Least:
    """The conclusion from bounds on several collectives: the `cycles` until all have ended, and `weighted_ends`, the least sum of
    weight times end; both from the common start. `earliest`: by name the first cycle in which it can start."""

    cycles: int
    weighted_ends: int
    earliest: Mapping[str, int]


@rule("joint-bound", "a bound on several collectives that its lengths do not prove", _EXAMPLE, Subject.JOINT)
def least(of: Together, bounds: Sequence[Any]) -> Least:
    """The conclusion from these bounds, each re-checked; WitnessError where one is not proved. O(bounds · a bound on each
    collective)."""
    checked = [(bound["collectives"], of.checked(bound), bound.get("length")) for bound in map(_table, bounds)]
    single = {entry.name: 0 for entry in of.entries}
    for names, value, _ in checked:
        if len(names) == 1:
            single[names[0]] = max(single[names[0]], value)
    earliest: dict[str, int] = {}
    ended: dict[str, int] = {}
    for entry in of.entries:  # each behind those that it waits for
        earliest[entry.name] = max([entry.start, *(ended[name] for name in entry.after)])
        ended[entry.name] = max(earliest[entry.name] + single[entry.name], of.after_late(entry))
    start = of.machine.ni_start_cycles
    ends = {name: start + end for name, end in ended.items()}
    together = [start + min(earliest[name] for name in names) + value for names, value, _ in checked]
    weighted = sum(entry.weight * ends[entry.name] for entry in of.entries)
    for names, _, length in checked:
        if length is not None and len(names) == len(of.entries):
            weighted = max(weighted, _smith(of, of.works(names, np.array(length, np.int64)), start))
    return Least(max([*ends.values(), *together]), weighted, earliest)


def _table(bound: Any) -> Any:
    if not isinstance(bound, Mapping) or "collectives" not in bound:
        raise malformed("a joint bound must have collectives, class, value, and length or time")
    return bound


def _smith(of: Together, works: Mapping[str, Fraction], start: int) -> int:
    """The least sum of weight · end of one machine with these works, none of which starts before cycle `start`."""
    order = sorted(of.entries, key=lambda entry: (works[entry.name] / entry.weight, entry.name))
    now, summed = Fraction(start), Fraction(0)
    for entry in order:
        now += works[entry.name]
        summed += entry.weight * now
    return math.ceil(summed)


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
