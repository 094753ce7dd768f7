"""Comparison of methods: one cell for each method and size, or the reason why there is no schedule."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

from certree.api import parsing
from certree.api.api_errors import InvalidScheduleError
from certree.api.evidence import add_certificate
from certree.api.parsing import Entry, Network, parse_entry
from certree.api.reports.run_report import planned_cycles
from certree.api.reports.schedule_report import closed_form, schedule_report
from certree.api.reports.text import clock_times, size_words
from certree.api.reports.time_bounds import over_bounds, time_bound
from certree.api.runs.any_timing import with_proof
from certree.api.runs.deadlocks import require_free, require_in_time
from certree.api.settings import machine_for, silent
from certree.api.workers import Workers
from certree.extras.endpoints.model.endpoint import Runs
from certree.extras.endpoints.run.tables.table_endpoints import TableEndpoints
from certree.extras.endpoints.run.tables.table_runs import run_with_endpoints
from certree.extras.sweeps.run.comparing.baselines import Baseline, listed, schedule_of, seconds_of_nccl
from certree.extras.sweeps.run.results.compared import ComparedMethods, outcome_words
from certree.extras.sweeps.run.run_faults import fault_of
from certree.extras.workers.batch import outcomes_of
from certree.extras.workers.networks import received, sent
from certree.extras.workers.task import Task
from certree.hw.engines.runs import Options, Run
from certree.hw.run import run as run_schedule
from certree.hw.run import tables_or_plan
from certree.models.common.errors import InputError, RejectedError, UndecidedError, UnsupportedError
from certree.models.common.progress import Counted
from certree.models.machine.machine import Machine, machine_from_document
from certree.models.network.topology import Topology
from certree.models.schedule.collective import Collective
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule
from certree.models.schedule.timing import bandwidth_bound_cycles
from certree.synth.filling import made_and_options
from certree.synth.method import Request, load_methods
from certree.verify.verdict import Quality

KEPT = (
    "valid", "steps", "total_steps", "delay", "period", "repeats", "chunks", "transfers", "bandwidth_time", "bandwidth_bound",
    "latency_steps", "latency_bound", "optimal_in", "gap",
)  # fmt: skip
SIZES = ("32KiB", "1MiB", "64MiB")
PAIRWISE = "direct:steps=by-distance"
KEPT_OF_SHARED = ("shares", "bandwidth_bound_any_shares")  # of an all-gather and reduce-scatter


def compare(
    network: Network,
    collective: str | Collective = "all-reduce",
    *,
    root: int | None = None,
    sizes: Sequence[int | str] | None = None,
    methods: Sequence[str] | None = None,
    baseline: Baseline | Sequence[Baseline] | None = None,
    machine: str | Path | Machine | None = None,
    run: str | None = "slotted",
    without_routers: bool = False,
    effort: int = 1,
    seed: int = 0,
    relay: str | Iterable[int] = "all",
    workers: int | Workers | None = None,
    progress: Callable[[str], None] | None = None,
    interrupted: Callable[[ComparedMethods], None] | None = None,
) -> ComparedMethods:
    """Closed-form and simulated cycles, contention, steps and gap of methods at several sizes.

    Published algorithms run with as many channels as fill wide links, where they are faster so and no channels were stated; such a
    cell has the `options` that were added. `time_over_bound` of a cell is its closed form divided by `time_bound_cycles`, which no
    run with the method's shares can undercut; of an all-gather or reduce-scatter `time_over_bound_any_shares` is that with the
    bound for any shares.

    Parameters
    ----------
    network, collective, root, relay
        As in `synthesize`.
    sizes : sequence of int or str, optional
        Message sizes, by default SIZES; a demand has one, its own.
    methods : sequence of str, optional
        Each `name` or `name:option=value:...`; by default all, of a demand those that take one, and PAIRWISE: how libraries send
        it, all at once (`direct`) or pair by pair.
    baseline : str, path or sequence, optional
        What runs today: a file with a schedule, a program or NCCL's graphs or log, or the name of one of NCCL's algorithms, or
        several of these. Their cells come first at each size.
    machine, effort, seed
        As in `synthesize`.
    run : {"slotted", "paced"} or None
        The execution model of the simulation; None for closed forms alone.
    without_routers : bool
        Whether the delays of routers are ignored.
    workers : int or Workers, optional
        As in `sweep`, but one by default, which is this process; a method with its sizes is a task.
    progress : callable, optional
        Receives a line for each cell.
    interrupted : callable, optional
        Receives the cells so far on an interrupt, before KeyboardInterrupt goes on.

    Returns
    -------
    ComparedMethods
        A cell that a method does not cover has `not_applicable`, one whose schedule is invalid has `refuted`.

    Raises
    ------
    InputError
        For anything malformed.

    Examples
    --------
    >>> import certree.api as ct
    >>> [cell["time_cycles"] for cell in ct.compare("ring:4", sizes=["1MiB"], methods=["ring", "multitree"]).cells]
    [109503, 78463]
    """
    topology, asked = parsing.relayed(network, collective, root, relay)
    entries = [parse_entry(name) for name in methods or _all_methods(asked)]  # an unknown one is an error before any work
    comparison = Comparison(topology, asked, machine_for(topology, machine, progress or silent), effort, seed, run, without_routers)
    numbers, spread = _numbers(asked, sizes, comparison.machine), Workers.of(workers, 1)
    first = {size: [comparison.baseline(one, size) for one in listed(baseline)] for size in numbers}
    found: dict[tuple[int, str], dict[str, Any]] = {}

    def so_far() -> ComparedMethods:
        rows = [
            cell
            for size in numbers
            for cell in (*first[size], *(found[size, one.text] for one in entries if (size, one.text) in found))
        ]
        return ComparedMethods(topology, asked, comparison.machine, tuple(rows))

    try:
        for cell in _cells(comparison, entries, numbers, spread, progress or silent):
            found[cell["message_bytes"], cell["method"]] = cell
    except KeyboardInterrupt:
        if interrupted is not None:
            interrupted(so_far())
        raise
    return so_far()


def require_comparable(
    topology: Topology,
    collective: Collective,
    sizes: Sequence[int | str] | None,
    methods: Sequence[str] | None,
    baseline: Baseline | Sequence[Baseline] | None,
    machine: str | Path | Machine | None,
) -> None:
    """Raise the InputError that `compare` would raise, without making a schedule of a method."""
    for name in methods or ():
        parse_entry(name)
    comparison = Comparison(topology, collective, machine_for(topology, machine), 1, 0, None)
    for size in _numbers(collective, sizes, comparison.machine):
        for one in listed(baseline):
            comparison.schedule_of(one, size)


def _cells(
    comparison: "Comparison", entries: Sequence[Entry], sizes: Sequence[int], workers: Workers, tell: Callable[[str], None]
) -> Iterator[dict[str, Any]]:
    """The cells as they are done: one size after the other in this process, or a method with all its sizes on each worker."""
    if workers.is_one:
        yield from comparison.cells(entries, sizes, tell)
        return
    tasks = {task.key: task for task in (comparison.task(entry, sizes) for entry in entries)}
    with closing(outcomes_of(list(tasks.values()), workers)) as outcomes:
        for done, (task, outcome) in enumerate(outcomes, 1):
            yield from outcome.value()["cells"]
            tell(Counted(f"{done} of {len(tasks)}: {task.label}, {outcome.cpu_seconds:.1f} CPU s", done, len(tasks)))


def _all_methods(collective: Collective) -> list[str]:
    """The methods that are compared by default."""
    known = load_methods()
    if collective.members is not None:
        return [name for name in known if known[name].takes_members]
    if collective.demand is None:
        return list(known)
    return [*(name for name in known if known[name].takes_demand), PAIRWISE]


def _numbers(collective: Collective, sizes: Sequence[int | str] | None, machine: Machine) -> list[int]:
    """The sizes in bytes; InputError for others than that of a demand."""
    numbers = [parsing.size(size) for size in (SIZES if sizes is None else sizes)]
    if collective.demand is None:
        return numbers
    own = collective.demand.granules * machine.flit_bytes
    if sizes is not None and numbers != [own]:
        raise InputError(f"the demand is for {own} bytes on machine {machine.name}, and has no other size")
    return [own]


@dataclass
class Comparison:
    """The parameters shared by all cells of a comparison, and verdicts found so far: a method that makes the same schedule for
    another size is not checked again."""

    topology: Topology
    collective: Collective
    machine: Machine
    effort: int
    seed: int
    run: str | None  # how to simulate; None: not at all
    without_routers: bool = False
    search: bool = True  # for bounds, in addition to those of the verifier
    endpoint: TableEndpoints | None = None  # of the simulation
    _checked: dict[tuple[str, str], tuple[AnySchedule, dict[str, Any], Quality | None]] = field(default_factory=dict)
    _simulated: dict[tuple[str, int], dict[str, Any]] = field(default_factory=dict)

    @property
    def schedules(self) -> list[AnySchedule]:
        """The schedules of the cells so far, those that are not valid included."""
        return [schedule for schedule, *_ in self._checked.values()]

    def cells(self, entries: Sequence[Entry], sizes: Sequence[int], tell: Callable[[str], None]) -> Iterator[dict[str, Any]]:
        """The cells of all methods, one size after the other."""
        for place, (size, entry) in enumerate(product(sizes, entries), 1):
            cell = self.cell(entry, size)
            tell(Counted(f"{entry.text} at {size_words(size)}: {outcome_words(cell)}", place, len(sizes) * len(entries)))
            yield cell

    def task(self, entry: Entry, sizes: Sequence[int]) -> Task:
        """The task that makes the cells of one method on a worker."""
        arguments = {
            **sent(self.topology, self.collective),
            "machine": self.machine.document(),
            "more": [self.effort, self.seed, self.run, self.without_routers, self.search],
            "method": entry.text,
            "sizes": list(sizes),
        }
        return Task(entry.text, cells_of, arguments)

    def cell(self, entry: Entry, size: int) -> dict[str, Any]:
        """One method at one size: the report on its schedule, or the reason why there is no schedule."""
        cell: dict[str, Any] = {"method": entry.text, "message_bytes": size}
        request = Request(
            self.topology, self.collective, size, self.machine, options=entry.options, effort=self.effort, seed=self.seed
        )
        try:
            made, added = made_and_options(load_methods()[entry.method], request)
        except (UnsupportedError, UndecidedError) as error:
            return cell | {"not_applicable": str(error)}
        except RejectedError as error:  # every candidate of method auto
            return cell | {"valid": False, "refuted": str(error)}
        return self._rated(cell | ({"options": added} if added else {}), made, size)

    def baseline(self, baseline: str, size: int) -> dict[str, Any]:
        """The schedule of a file or a name at one size; InputError where it is for another network or collective."""
        cell: dict[str, Any] = {"method": baseline, "message_bytes": size}
        made = self.schedule_of(baseline, size)
        if isinstance(made, str):
            return cell | {"not_applicable": made}
        return self._rated(cell, made, size) | seconds_of_nccl(baseline, made, size, self.machine)

    def schedule_of(self, baseline: str, size: int) -> AnySchedule | str:
        """The schedule of a baseline, or why it is not applicable."""
        request = Request(self.topology, self.collective, size, self.machine, effort=self.effort, seed=self.seed)
        return schedule_of(baseline, request)

    def _rated(self, cell: dict[str, Any], made: AnySchedule, size: int) -> dict[str, Any]:
        """A cell with the verdict on a schedule, its times and bounds."""
        schedule, report, quality = self._check(cell["method"], made, size)
        if not report["valid"]:
            counts = ", ".join(f"{count} × {rule}" for rule, count in report["violation_counts"].items())
            return cell | {"valid": False, "refuted": counts, "violations": report["violations"]}
        times = closed_form(schedule, size, self.machine)
        cell |= {key: report[key] for key in (*KEPT, *KEPT_OF_SHARED) if key in report} | times
        assert quality is not None
        bound = bandwidth_bound_cycles(quality.any_sums * quality.scale, size, self.machine)
        cell["bound_cycles"] = str(bound)
        cell |= time_bound(schedule, quality, size, self.machine)
        cell |= over_bounds(times["time_cycles"], cell)
        return cell | self._simulation(schedule, size)

    def _check(self, name: str, made: AnySchedule, size: int) -> tuple[AnySchedule, dict[str, Any], Quality | None]:
        key = (name, made.digest)
        if key not in self._checked:
            schedule, verdict = add_certificate(made, search=self.search)
            self._checked[key] = schedule, schedule_report(schedule, verdict, size, self.machine), verdict.quality
        return self._checked[key]

    def _simulation(self, schedule: AnySchedule, size: int) -> dict[str, Any]:
        key = (schedule.digest, size)  # several methods may make the same schedule
        if key not in self._simulated:
            self._simulated[key] = {} if self.run is None else self._run(schedule, size, self.run)
        return self._simulated[key]

    def _run(self, schedule: AnySchedule, size: int, mode: str) -> dict[str, Any]:
        options = Options(mode=mode, without_routers=self.without_routers, endpoint=self.endpoint)
        try:
            source = tables_or_plan(schedule, size, self.machine)
            if not self.without_routers:
                require_free(source)
                require_in_time(source, options)
            run_it = run_schedule if self.endpoint is None else run_with_endpoints
            result = run_it(source, with_proof(source, options))
        except UnsupportedError as error:
            return {"simulated_cycles": None, "not_simulated": str(error)}
        except InvalidScheduleError as error:
            return {"simulated_cycles": None, "not_simulated": str(error), "run_fault": f"the run is refused: {error}"}
        fault = fault_of(result, planned_cycles(source.schedule))
        return {
            **({} if fault is None else {"run_fault": fault}),
            "simulated_cycles": result.cycles,
            "simulated_seconds": clock_times(result.cycles, size, self.machine)["seconds"],
            "engine": result.engine,
            "exact": result.is_exact,
            "contention_cycles": result.contention_cycles,
            "late": result.late,
            "data_ok": result.data_ok,
            **self._of_engine(result),
        }

    def _of_engine(self, result: Run) -> dict[str, Any]:
        """The memory, area and power of an engine; nothing without one."""
        if self.endpoint is None or result.endpoint is None or self.endpoint.system.runs is not Runs.ENGINE:
            return {}
        engine = self.endpoint.endpoint
        return {
            "sram_peak": result.endpoint.counts["sram_peak"],
            "engine_square_micrometres": str(engine.square_micrometres),
            "engine_watts": str(engine.watts),
        }


def cells_of(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """`cells` of one method at all sizes, on a worker."""
    machine = machine_from_document(arguments["machine"], "machine")
    comparison = Comparison(*received(arguments), machine, *arguments["more"])
    return {"cells": list(comparison.cells([parse_entry(arguments["method"])], arguments["sizes"], silent))}
