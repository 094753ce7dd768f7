"""Collectives with the costs of endpoints: memory and interface buses, an accelerator that adds, or ACE's engine."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from certree.api import parsing
from certree.api.api_errors import InvalidScheduleError
from certree.api.artefacts import holds_schedule
from certree.api.inputs import schedule_of
from certree.api.reports.text import size_words
from certree.api.settings import Tell, machine_for, silent
from certree.extras.endpoints.model.endpoint import Endpoint, System, load_endpoint
from certree.extras.endpoints.run.endpoint_program import Choices, Payload
from certree.extras.endpoints.run.endpoint_run import EndpointResult
from certree.extras.endpoints.run.ideal import run_system
from certree.extras.endpoints.run.tables.joint_machine import joint_tables, run_joint
from certree.extras.endpoints.run.tables.joint_results import results_of_tables, results_together, why_lanes
from certree.extras.endpoints.run.tables.together import run_together
from certree.hw.engines.runs import Run
from certree.models.common.errors import InputError, UnsupportedError
from certree.models.common.shown import Shown
from certree.models.network.topology import Topology
from certree.models.schedule.collective import Collective, CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule, written_out
from certree.synth.method import Request, load_methods

#: the methods of ACE's Table 5
HIERARCHICAL = {CollectiveKind.ALL_REDUCE: "hierarchical", CollectiveKind.ALL_TO_ALL: "hierarchical-all-to-all"}
#: deadlock-avoidance rules of engines
RULES = ("in-order", "spare", "apart")
#: what runs: tables on the joint machine, or the messages of chunks
PROGRAMS = ("auto", "tables", "messages")
DEFAULT_BYTES = 16 << 20


@dataclass(frozen=True, repr=False)
class EndpointRuns(Shown):
    """A collective run by the endpoints of each system: the schedule and its method, payloads, choices, and a result each.

    `no_tables`: why messages ran where tables could have. `no_routers`: why tables ran on lanes, without routers. `joint`: where it
    was asked for next to messages, by system the run of tables in the joint machine, or why there is none."""

    schedule: Schedule
    method: str
    payloads: tuple[Payload, ...]
    choices: Choices
    endpoint: Endpoint
    results: tuple[EndpointResult, ...]
    joint: Mapping[str, Run | str] = field(default_factory=dict)
    no_tables: str | None = None
    no_routers: str | None = None

    def title(self) -> str:
        """The collective, the network and the method."""
        return f"{self.schedule.title()} by {self.method}, endpoints {self.endpoint.name}"

    def facts(self) -> dict[str, object]:
        """Cycles of each system."""
        return {result.system: f"{result.cycles:,} cycles" for result in self.results}

    @property
    def correct(self) -> bool:
        """Whether every rank has the right result in all runs, and no message or chunk is left over."""
        runs = [run for run in self.joint.values() if isinstance(run, Run)]
        return all(result.data_ok and result.conserved for result in self.results) and all(run.data_ok for run in runs)


def endpoints(
    source: str | Path | Topology | AnySchedule,
    collective: str | Collective | None = None,
    *,
    root: int | None = None,
    method: str | None = None,
    options: Mapping[str, Any] | None = None,
    payloads: Sequence[int | str | Payload] = (),
    systems: Sequence[str] = (),
    endpoint: str | Path | Endpoint = "ace",
    chunk: int | str | None = None,
    ways: int | None = None,
    lifo: bool = False,
    bounded: bool = False,
    without: Sequence[str] = (),
    trace: str | Path | None = None,
    force: bool = False,
    joint: bool = False,
    program: str = "auto",
    progress: Callable[[int], None] | None = None,
    tell: Tell = silent,
) -> EndpointRuns:
    """Run a collective by the endpoints of a network, chunk by chunk; times in cycles.

    Parameters
    ----------
    source : str, path, Topology or schedule
        A network, for which `method` makes a schedule, or a schedule; each chunk goes through one iteration of it.
    collective, root
        As in `synthesize`, for a network.
    method, options
        By default a hierarchical algorithm of ACE's Table 5.
    payloads : sequence, optional
        Bytes at every node, one collective each; "4MiB@5000" is asked for in cycle 5000. By default what a schedule was made for,
        16 MiB where that is not known (`tell` then receives a line).
    systems : sequence of str, optional
        Systems of the `endpoint` parameters, all by default.
    endpoint : str or path
        A preset or a TOML file.
    chunk : int or str, optional
        Bytes of a chunk.
    ways : int
        Parts of the schedule that chunks run in turn.
    lifo : bool
        Whether the latest of several collectives is served first.
    bounded : bool
        Whether the memory bus of a system has only its share of the bandwidth. By default the share says what training does not
        have, and transfers run at the speed of the bus.
    without : sequence of str
        Deadlock-avoidance rules to disable.
    trace : str or path, optional
        For a single system, a file with a JSON line for each step.
    force : bool
        Whether a file that exists is overwritten.
    joint : bool
        Whether messages run, and tables next to them, or why there are none.
    program : {"auto", "tables", "messages"}
        "tables" run in the one machine of `simulate`, paced and through routers, in chunks of the same bytes (`run_joint`);
        "messages" have ways, ports and phases, and links alone; "auto": tables where all systems have them, where that takes
        seconds, and where nothing is asked that is of messages, otherwise messages, with the reason in `no_tables`. Where it takes
        long through routers but not on lanes, tables run on lanes, with the reason in `no_routers`.
    progress, tell : callable
        Receive lines of progress.

    Returns
    -------
    EndpointRuns

    Raises
    ------
    InputError
        For anything malformed.
    UnsupportedError
        For what the endpoints cannot run.

    Examples
    --------
    >>> import certree.api as ct
    >>> ct.endpoints("ace-torus:2x2x2", payloads=["64KiB"], systems=["ace"])
    <EndpointRuns all-reduce on ace-torus:2x2x2 by hierarchical, endpoints ace: ace 4,230 cycles>
    """
    machine = endpoint if isinstance(endpoint, Endpoint) else load_endpoint(str(endpoint))
    if bounded:
        machine = replace(machine, systems=tuple(machine.within_share(system) for system in machine.systems))
    chosen = [machine.system(name) for name in systems or [system.name for system in machine.systems]]
    if chunk is not None:
        chosen = [replace(system, chunk_bytes=parsing.size(chunk), bounds=None) for system in chosen]
    if trace is not None and len(chosen) > 1:
        raise InputError(f"a trace is of one system; name it: {chosen[0].name}")
    if program not in PROGRAMS:
        raise InputError(f"program {program!r}; allowed: {', '.join(PROGRAMS)}")
    if joint and program == "tables":
        raise InputError("joint runs tables next to messages; with program tables there are no messages: leave one of them out")
    unknown = sorted(set(without) - set(RULES))
    if unknown:
        raise InputError(f"unknown rule {unknown[0]!r}; known: {', '.join(RULES)}")
    asked = [payload if isinstance(payload, Payload) else parse_payload(str(payload)) for payload in payloads]
    wanted = None if collective is None else parsing.collective(collective, root)
    largest = max((payload.size for payload in asked), default=DEFAULT_BYTES)
    made = made_schedule(source, wanted, method, parsing.option_texts(options), largest)
    asked = asked or [Payload(_recorded_bytes(made.schedule, tell), 0)]
    left_out = {rule.replace("-", "_"): False for rule in without}
    choices = Choices(ways=ways or made.ways, lifo=lifo, **left_out)
    of_messages = {"ways": ways, "without": without}
    no_tables = no_routers = None
    if program != "messages" and not joint:
        try:
            _require_tables_know(of_messages | {"the trace of chunks": trace})
            every = [joint_tables(made.schedule, machine, payload.size) for payload in asked]
            no_routers = why_lanes(every, machine, chosen) if program == "auto" else None
            lanes = no_routers is not None
            if len(asked) == 1:
                done = results_of_tables(every[0], machine, chosen, progress, start=asked[0].start, without_routers=lanes)
            else:
                done = results_together(made.schedule, machine, chosen, asked, progress, lifo=lifo, without_routers=lanes)
            return EndpointRuns(made.schedule, made.method, tuple(asked), choices, machine, done, no_routers=no_routers)
        except UnsupportedError as error:
            if program == "tables":
                raise UnsupportedError(f"no run of tables: {error}") from None
            no_tables = str(error)
    results = []
    for system in chosen:
        target = None if trace is None else Path(trace)
        results.append(run_system(made.schedule, machine, system, asked, choices, progress, target, force))
    runs_of_tables = _joint(made.schedule, machine, chosen, asked, of_messages, lifo=lifo) if joint else {}
    return EndpointRuns(made.schedule, made.method, tuple(asked), choices, machine, tuple(results), runs_of_tables, no_tables)


def _require_tables_know(of_messages: Mapping[str, object]) -> None:
    """Raise UnsupportedError for the first of these by name, parameters of messages alone, that is asked for."""
    for name, value in of_messages.items():
        if value:
            raise UnsupportedError(f"{name} is for messages alone")


def _joint(
    schedule: Schedule,
    endpoint: Endpoint,
    systems: Sequence[System],
    payloads: Sequence[Payload],
    of_messages: Mapping[str, object],
    *,
    lifo: bool,
) -> dict[str, Run | str]:
    """The run of tables of each system, or the reason why there is none."""
    found: dict[str, Run | str] = {}
    try:
        _require_tables_know(of_messages)
        alone = joint_tables(schedule, endpoint, payloads[0].size) if len(payloads) == 1 else None
    except UnsupportedError as error:
        return {system.name: str(error) for system in systems}
    for system in systems:
        try:
            if alone is None:
                found[system.name] = run_together(schedule, endpoint, system, payloads, lifo=lifo).run
            else:  # chunks begin in the steps of tables
                found[system.name] = run_joint(alone, endpoint, system, start=payloads[0].start)
        except (UnsupportedError, InvalidScheduleError) as error:
            found[system.name] = str(error)
    return found


def _recorded_bytes(schedule: Schedule, tell: Tell) -> int:
    if schedule.made_for is not None:
        return schedule.made_for.message_bytes
    tell(f"the schedule records no message size; {size_words(DEFAULT_BYTES)} assumed")
    return DEFAULT_BYTES


def parse_payload(text: str) -> Payload:
    """`16MiB`, or `16MiB@5000`: asked for in cycle 5000."""
    size, at, start = text.partition("@")
    if at and not (start.isdecimal() and len(start) <= 15):
        raise InputError(f"size {text!r}: expected a cycle behind @, such as 4MiB@5000")
    return Payload(parsing.size(size), int(start or 0))


@dataclass(frozen=True)
class MadeSchedule:
    """A schedule, and the default number of parts of its segments (`ways`)."""

    schedule: Schedule
    method: str
    ways: int


def made_schedule(
    source: str | Path | Topology | AnySchedule,
    collective: Collective | None,
    method: str | None,
    options: Mapping[str, str],
    size: int,
) -> MadeSchedule:
    """The schedule in a file, or that of a method for a network."""
    if isinstance(source, Topology) or (isinstance(source, str | Path) and not holds_schedule(source)):
        topology = parsing.topology(source)
        wanted = collective or Collective(CollectiveKind.ALL_REDUCE)
        wanted.require_fits(topology)
        return make_schedule(topology, wanted, method, options, size)
    if collective is not None or method is not None or options:
        raise InputError("collective, method and options are for networks; a schedule has its own")
    schedule = written_out(schedule_of(source))
    return MadeSchedule(schedule, str(schedule.provenance.get("method", "unknown")), 1)


def make_schedule(
    topology: Topology, collective: Collective, method: str | None, options: Mapping[str, str], size: int
) -> MadeSchedule:
    """The schedule of a method, by default that of Table 5. Its rings have two directions, taken in turn: two `ways`."""
    name = method or HIERARCHICAL.get(collective.kind)
    if name is None:
        raise InputError(f"{collective.kind} needs a method; only {' and '.join(HIERARCHICAL)} have a default")
    request = Request(topology, collective, size, machine_for(topology, None), options=options)
    schedule = written_out(load_methods()[name](request))
    made_with = schedule.provenance.get("options", {})
    both = name == HIERARCHICAL[CollectiveKind.ALL_REDUCE] and made_with["bidirectional"] and "ring" in made_with["plans"]
    return MadeSchedule(schedule, name, 2 if both else 1)
