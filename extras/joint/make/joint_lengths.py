"""Lengths of links for bounds on several collectives: those that weigh what a joint schedule fills, and improvements of them."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.extras.joint.check.joint_bounds import Together
from certree.models.fine.slots import FineTimes
from certree.models.schedule.schedule import Schedule
from certree.verify.bounds.witness import Bound, WitnessError

Int64 = NDArray[np.int64]
_LEVELS = (Fraction(1), Fraction(99, 100), Fraction(19, 20), Fraction(9, 10), Fraction(4, 5), Fraction(1, 2))
_POWERS = (1, 4, 16)
_BUSY, _NEAR = 2, 2  # nodes, and links away from them, whose cuts are tried
_BITS = 8  # of lengths by fill


def joint_bounds(of: Together, schedules: Sequence[Schedule], times: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[Bound]:
    """The best bound on all collectives, those on each that are needed, and one on every subset that starts late.

    Lengths are tried that follow from what the schedules put on the links; of each set of collectives the best is kept. `times`: by
    name bounds on the time of one collective alone.
    O(lengths tried · collectives · a bound on one).
    """
    names = [entry.name for entry in of.entries]
    load = {name: link_load(schedule) for name, schedule in zip(names, schedules, strict=True)}
    sets = [[name] for name in names]
    starts = sorted({entry.start for entry in of.entries})
    sets += [late for start in starts if len(late := [one.name for one in of.entries if one.start >= start]) > 1]
    found = []
    for chosen in sets:
        bounds = [_best(of, chosen, sum(load[name] for name in chosen))]
        if len(chosen) == 1:
            for time in times[chosen[0]]:
                with suppress(WitnessError):  # it is for the routes of the schedule that it came with
                    bounds.append(of.alone(chosen[0], time))
        known = [bound for bound in bounds if bound is not None]
        found += [max(known, key=lambda bound: int(bound["value"]))] if known else []
    everyone = of.document(names, np.ones(len(of.topology.src), np.int64))
    return found if len(names) < 2 or everyone in found else [*found, everyone]  # the second one may be better for weighted ends


def _best(of: Together, names: Sequence[str], load: Int64 | int) -> Bound | None:
    best, value = None, 0
    for length in _lengths(of, names, np.asarray(load)):
        try:
            reached = of.value(names, length)
        except WitnessError:  # all links have length 0
            continue
        if reached > value:
            best, value = length, reached
    return None if best is None else of.document(names, best)


def _lengths(of: Together, names: Sequence[str], load: Int64) -> Iterator[Int64]:
    """Lengths of all links: the same; 1 across cuts around roots and busy nodes; 1 where links are nearly as full as the fullest;
    and powers of their fill."""
    topology = of.topology
    yield np.ones(len(topology.src), np.int64)
    yield from _cuts(of, names, load)
    capacity = topology.pair_capacity
    fill = (load << _BITS) // capacity
    most = max(1, int(fill.max(initial=0)))
    for level in _LEVELS:
        full = fill * level.denominator >= most * level.numerator
        yield full[topology.pair_of_link].astype(np.int64)
    for power in _POWERS:
        scaled = ((fill << _BITS) // most).astype(object) ** power >> (_BITS * (power - 1))
        yield np.maximum(1, scaled.astype(np.int64) // capacity)[topology.pair_of_link]


def _cuts(of: Together, names: Sequence[str], load: Int64) -> Iterator[Int64]:
    """1 for the links out of some nodes, or into them: each root, all roots, the nodes whose links are fullest, what is within
    _NEAR links of these, and the members of a collective."""
    topology = of.topology
    collectives = [of.instances[name].instance.collective for name in names]
    roots = sorted({one.root for one in collectives if one.root is not None})
    for ends, others, sides in (
        (topology.src, topology.dst, topology.pair_src),
        (topology.dst, topology.src, topology.pair_dst),
    ):
        busy, room = np.zeros((2, len(topology.kind)), np.int64)
        np.add.at(busy, sides, load)
        np.add.at(room, sides, topology.pair_capacity)
        fullest = np.argsort(-(busy << _BITS) // np.maximum(1, room), kind="stable")[:_BUSY].tolist()
        groups = [tuple(roots), *(one.members for one in collectives if one.members is not None)]
        for node in dict.fromkeys([*roots, *fullest]):
            within = np.array([node])
            for _ in range(_NEAR + 1):
                groups.append(tuple(within.tolist()))
                within = np.union1d(within, topology.dst[np.isin(topology.src, within)])
        for nodes in dict.fromkeys(groups):
            yield (np.isin(ends, nodes) & ~np.isin(others, nodes)).astype(np.int64)


def link_load(schedule: Schedule) -> Int64:
    """The cycles for which messages of a schedule in fine slots are on the links of each pair of nodes."""
    times = FineTimes(schedule)
    uses, load = times.reservations, np.zeros(len(schedule.topology.pair_capacity), np.int64)
    np.add.at(load, uses.pair, times.length[uses.row])
    return load
