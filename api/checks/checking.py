"""Verdicts on schedules, tables and frontiers; certificates; lower bounds on any schedule."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, TypedDict, Unpack, overload

from certree.api import parsing
from certree.api.api_errors import InvalidScheduleError
from certree.api.artefacts import verify_artefact
from certree.api.checks.verdicts import on_machine
from certree.api.evidence import add_certificate, best_of_each_class, found_time_bounds, with_found_bounds
from certree.api.inputs import asked_for, schedule_of
from certree.api.parsing import Network
from certree.api.settings import machine_for, setting
from certree.models.common.errors import InputError, short
from certree.models.common.extras import provided
from certree.models.common.shown import Shown
from certree.models.machine.machine import Machine
from certree.models.network.topology import Topology
from certree.models.schedule.collective import Collective
from certree.models.schedule.made_for import MadeFor
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule
from certree.models.tables.tables import Tables
from certree.verify.bounds.cheap import cheap_bounds
from certree.verify.bounds.classes import is_general, is_shared
from certree.verify.bounds.instance import Instance
from certree.verify.bounds.timed import best_general_time
from certree.verify.bounds.witness import Bound, best_bounds, check_bound
from certree.verify.checker import verify_schedule
from certree.verify.verdict import Verdict


class _Asked(TypedDict, total=False):
    """Keywords of `verify`: what the schedule must be for, and where it runs."""

    topology: Network | None
    collective: str | Collective | None
    root: int | None
    route: str | None
    size: int | str | None
    machine: str | Path | Machine | None


@overload
def verify(source: AnySchedule | Tables, **asked: Unpack[_Asked]) -> Verdict: ...


@overload
def verify(source: str | Path, *, trust: str | None = None, executor: str | None = None, **asked: Unpack[_Asked]) -> Any: ...


def verify(
    source: str | Path | AnySchedule | Tables,
    *,
    topology: Network | None = None,
    collective: str | Collective | None = None,
    root: int | None = None,
    route: str | None = None,
    size: int | str | None = None,
    machine: str | Path | Machine | None = None,
    trust: str | None = None,
    executor: str | None = None,
) -> Any:
    """The verdict on a schedule, on tables, or on what a path holds: anything that `certree verify` takes.

    Everything is recomputed, certificates and proofs included. Time: `certree.verify.checker.verify_schedule`.

    Parameters
    ----------
    source : Schedule, Tables, str or path
        What is verified.
    topology, collective, root
        What the schedule must be for; a CSV, which does not state these, is read with them.
    route : {"shortest", "dimension-order"}, optional
        Routes of CSV rows between nodes that are not neighbours.
    size, machine
        Those for which routes must be free of deadlock; by default what the schedule was made for, or 64 MiB and multitree.
    trust : {"hashes", "none"}, optional
        For bundles: "hashes", the default, takes the results of TLC on trust once the hashes of tool and modules are right, "none"
        runs TLC again.
    executor : {"msccl-0.7.4", "rccl", "mscclpp-0.9"}, optional
        For programs: the executor whose limits they must keep.

    Returns
    -------
    Verdict, FrontierVerdict, BundleVerdict or CheckedProgram
        `valid`; an invalid schedule does not raise, its verdict lists the violations. `items` of a bundle's verdict say what was
        done about each item.

    Raises
    ------
    InputError
        Or a subclass, for input that cannot be read.
    ToolMissingError
        Where TLC is to run and is missing.

    Examples
    --------
    >>> import certree.api as ct
    >>> ct.verify(ct.synthesize("ring:4", size="1MiB"))
    <Verdict valid: bandwidth time 3/4 M/B (bound 3/4), steps 18 (bound 3)>
    """
    if isinstance(source, str | Path):
        asked = replace(asked_for(topology, collective, root, route), size=size, machine=machine, trust=trust, executor=executor)
        return verify_artefact(source, asked).verdict
    if executor is not None:
        raise InputError(f"executor {executor} is for programs in files")
    if trust is not None:
        raise InputError(f"trust {trust} is for bundles; for anything else everything is recomputed")
    if isinstance(source, Tables):
        from certree.verify.tables.table_checker import verify_tables

        verdict = verify_tables(source)
        if not verdict.valid:
            return verdict
    schedule = schedule_of(source, collective=collective, root=root)
    network = None if topology is None else parsing.topology(topology)
    verdict = verify_schedule(schedule, topology=network)
    if isinstance(source, Tables):
        verdict = with_found_bounds(schedule, verdict)
    return on_machine(schedule, verdict, size, machine)


def certify(
    source: str | Path | AnySchedule | Tables,
    *,
    topology: Network | None = None,
    collective: str | Collective | None = None,
    root: int | None = None,
    route: str | None = None,
    size: int | str | None = None,
    machine: str | Path | Machine | None = None,
    search: bool = True,
) -> AnySchedule:
    """A valid schedule with its certificate: bounds on bandwidth time and steps, each with its witness, and the resulting claims.

    Parameters
    ----------
    source : schedule, Tables, str or path
        What is certified.
    topology, collective, root, route
        As in `verify`.
    size, machine : optional
        Recorded in the result as what it is made for; by default those of `source`.
    search : bool
        Whether the bounds are those of `bound`; otherwise only the cheap ones.

    Returns
    -------
    Schedule or SymmetricSchedule

    Raises
    ------
    InvalidScheduleError
        With the verdict, for a schedule that breaks rules.

    Examples
    --------
    >>> import certree.api as ct
    >>> schedule = ct.synthesize("ring:4", method="ring", size="1MiB")
    >>> sorted(bound["kind"] for bound in ct.certify(schedule).certificate["bounds"])
    ['counting', 'degree', 'distance', 'partition']
    """
    schedule = schedule_of(source, topology, collective, root, route)
    if size is not None or machine is not None:
        schedule = replace(schedule, made_for=setting(schedule, size, machine))
    certified, verdict = add_certificate(schedule, search=search)
    if not verdict.valid:
        raise InvalidScheduleError(certified, verdict)
    return certified


@dataclass(frozen=True, eq=False, repr=False)
class Bounds(Shown):
    """Lower bounds on the schedules of a collective on a network, or on those of them that `model` describes.

    `bandwidth`: the time of a message of M bytes is at least this many times M/B as M grows, B being the bandwidth of a link of
    capacity 1, a full link. `latency`: the steps of any schedule whose transfers take `delay` steps. `bounds`: all that were found,
    as JSON documents with their witnesses, the strongest of each quantity first; the verifier checked each. The values of bandwidth
    bounds there are rounds per chunk: coefficients of M/B once multiplied by `topology.exact.scale`, which is 1 for whole ones.
    `any_shares`: for an all-gather or reduce-scatter, a bound like `bandwidth` that holds whatever parts of the message the
    endpoints root; None for others, whose bounds all do. `time_cycles`: the cycles that every run takes for the message size and
    the machine `made_for`, by `time_bounds`, the strongest first; None without a message size. `time_cycles_any_shares`: likewise,
    for any shares. `order`: the order in which the chunks are added; None for any. The key `class` of a document: its terms.
    """

    topology: Topology
    collective: Collective
    delay: int
    bandwidth: Fraction
    latency: int
    bounds: tuple[Bound, ...]
    any_shares: Fraction | None = None
    made_for: MadeFor | None = None
    time_cycles: int | None = None
    time_bounds: tuple[Bound, ...] = ()
    time_cycles_any_shares: int | None = None
    order: str | None = None

    @property
    def model(self) -> tuple[str, ...]:
        """The schedules that the bounds cover, where these are not all."""
        words = [f"results usable {self.delay} step{'s' * (self.delay > 1)} after send"]
        if self.order is not None:
            words.append(f"chunks added in the order {short(self.order)}, except in bounds for any order")
        if self.any_shares is not None:
            words.append("every endpoint roots an equal share, except in bounds for any shares")
        if self.collective.members is not None:
            words.append("endpoints that take no part may relay")
        if self.topology.is_direct:
            words.append("latency: no routes through endpoints")
        return tuple(words)

    def facts(self) -> dict[str, object]:
        """The best bound of each quantity."""
        time = {} if self.time_cycles is None else {"time": f"≥ {self.time_cycles} cycles"}
        return {"bandwidth time": f"≥ {self.bandwidth} M/B", "latency": f"≥ {self.latency} steps", **time}


def bound(
    network: Network,
    collective: str | Collective = "all-reduce",
    *,
    root: int | None = None,
    delay: int = 1,
    size: int | str | None = None,
    machine: str | Path | Machine | None = None,
    order: str | None = None,
    relay: str | Iterable[int] = "all",
) -> Bounds:
    """Lower bounds on the bandwidth time and on the steps of schedules, and with `size` on the time of a run, with witnesses.

    Bounds are exact. They are searched by maximum flows and linear programs (`certree.synth.bounds.find.find_bounds`,
    `quickest.time_bounds`), in seconds for hundreds of nodes.

    Parameters
    ----------
    network, collective, root
        As in `topology` and `collective`.
    delay : int
        Steps from a send to the use of what was sent.
    size, machine : optional
        Those of the time bound; the machine is by default the one that `synthesize` uses.
    order : str, optional
        The bounds are for schedules that add all chunks in this order, as in `synthesize`; "one" and "nested": certree chooses it.
    relay : str or iterable of int
        As in `relayed`.

    Returns
    -------
    Bounds
        `bandwidth` as a multiple of M/B, `latency` in steps, `time_cycles` with a size, and the witnesses.

    Raises
    ------
    InputError
        For unsupported input.

    Examples
    --------
    >>> import certree.api as ct
    >>> ct.bound("mesh:8x8")
    <Bounds all-reduce on mesh:8x8: bandwidth time ≥ 9/16 M/B, latency ≥ 14 steps>
    >>> ct.bound("dgx1", "broadcast", root=0).bandwidth
    Fraction(1, 6)
    >>> ct.bound("torus:8x8", size="1KiB").time_cycles
    1263
    """
    from certree.synth.bounds.find import find_bounds

    described, asked = parsing.relayed(network, collective, root, relay)
    instance = Instance(described.exact, asked, delay=delay)
    found = find_bounds(instance.topology, instance.collective, delay)
    if order is not None:
        adds, ordered = provided("the bound of an order")(order, instance.topology, instance.collective)
        instance = replace(instance, adds=adds)
        found.append(ordered)
    found += [cheap for cheap in cheap_bounds(instance) if cheap not in found]
    values = {id(one): check_bound(instance, one) for one in found}
    best = best_bounds(instance, found)
    found.sort(key=lambda one: (one["quantity"], -values[id(one)]))
    bandwidth = best["bandwidth"][0] * instance.topology.scale
    of_bandwidth = best_of_each_class(instance, [one for one in found if one["quantity"] == "bandwidth"])
    general = [values[id(one)] * instance.topology.scale for one in of_bandwidth if is_general(instance, one)]
    timed: list[Bound] = []
    made_for = None if size is None else MadeFor(parsing.size(size), machine_for(instance.topology, machine))
    if made_for is not None:
        timed = found_time_bounds(instance, of_bandwidth, made_for.message_bytes, made_for.machine)
    return Bounds(
        described, instance.collective, delay, bandwidth, int(best["latency"][0]), tuple(found),
        general[0] if general and is_shared(instance) else None, made_for,
        int(timed[0]["value"]) if timed else None, tuple(timed), best_general_time(instance, timed),
        instance.order,
    )  # fmt: skip
