"""Runs of the MultiTree authors' simulator, with all faults of its interfaces, and with each of them corrected in turn."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import Any

from certree.api.reports.text import size_words
from certree.api.runs.deadlocks import run_free
from certree.extras.papers.authors.baselines import pipelined_trees, row_and_column_rings
from certree.extras.papers.authors.faults import Fault
from certree.extras.papers.authors.interface import AuthorsInterfaces
from certree.extras.papers.authors.tables import tables_of
from certree.extras.papers.experiment import EXPERIMENTS, Cell, Experiment
from certree.extras.workers.task import Task
from certree.hw.engines.runs import Engine, Options
from certree.hw.run import tables_or_plan
from certree.models.common.fields import Fields
from certree.models.machine.machine import Machine, load_machine, machine_from_document
from certree.models.network.spec import parse_topology
from certree.models.network.topology import Topology
from certree.models.schedule.collective import parse_collective
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.symmetric.symmetric_schedule import written_out
from certree.models.schedule.timing import FRAMINGS
from certree.synth.method import Request, load_methods

THEIR_SCHEDULES = {"double-binary-tree": pipelined_trees, "ring-2d": row_and_column_rings}
AS_THEIRS, LEAST, MOST, NO_FAULT, PACED, OPEN_EARLY = "as theirs", "least", "most", "without any of these", "paced", "opened early"


@dataclass(frozen=True)
class _Row:
    network: str
    method: str
    options: tuple[tuple[str, str], ...]
    chunks: int | None
    message_bytes: int
    flow: str
    interfaces: int
    machine: Machine

    @property
    def name(self) -> str:
        return f"{self.method}, {self.network}, {size_words(self.message_bytes)}, {self.flow}s"

    @property
    def faults(self) -> list[str]:
        """The faults that can be corrected one by one; with a single interface, confusion of interfaces cannot occur."""
        return [fault.value for fault in Fault if self.interfaces > 1 or fault is not Fault.ANY_INTERFACE]

    def task(self, kind: str, **more: Any) -> Task:
        arguments = asdict(self) | {"machine": self.machine.document(), "options": dict(self.options), "kind": kind, **more}
        return Task(f"{self.name}: {kind}", run_as_authors, arguments)


@dataclass(frozen=True)
class _AuthorsRuns(Experiment):
    """`orders`: random draws of the order of events for each row; rings do not depend on it. 0: as theirs only, once."""

    rows: tuple[_Row, ...]
    orders: int

    def tasks(self) -> list[Task]:
        return [task for row in self.rows for task in self._tasks(row).values()]

    def _tasks(self, row: _Row) -> dict[str, Task]:
        """Tasks by name: the number of an order, the corrected fault, or the paper's run."""
        every = [fault.value for fault in Fault]
        tasks = {"0": row.task(AS_THEIRS, faults=every, order=0)}
        if self._is_single(row):
            return tasks
        tasks |= {str(order): row.task(f"order {order}", faults=every, order=order) for order in range(1, self.orders)}
        for fault in row.faults:
            left = [other for other in every if other != fault]
            tasks[_without(fault)] = row.task(_without(fault), faults=left, order=0)
        tasks[NO_FAULT] = row.task(NO_FAULT, faults=[other for other in every if other not in row.faults], order=0)
        return tasks | {PACED: row.task(PACED)}

    def _is_single(self, row: _Row) -> bool:
        return row.method == "ring" or not self.orders

    def cells(self, results: Sequence[Mapping[str, Any]]) -> list[Cell]:
        found = iter(results)
        return [cell for row in self.rows for cell in self._cells(row, {name: next(found) for name in self._tasks(row)})]

    def _cells(self, row: _Row, results: Mapping[str, Mapping[str, Any]]) -> list[Cell]:
        theirs = results["0"]
        cells = [Cell(row.name, AS_THEIRS, Fraction(theirs["cycles"]), more=theirs)]
        if self._is_single(row):
            return cells
        orders = [result["cycles"] for name, result in results.items() if name.isdigit()]
        cells += [Cell(row.name, LEAST, Fraction(min(orders))), Cell(row.name, MOST, Fraction(max(orders)))]
        cells += [Cell(row.name, name, Fraction(run["cycles"]), more=run) for name, run in results.items() if not name.isdigit()]
        return [*cells, Cell(row.name, OPEN_EARLY, Fraction(theirs["open_early"], theirs["messages"]))]

    def smoke(self) -> "_AuthorsRuns":
        """The first ring and the first MultiTree, in two orders at most."""
        first = {row.method: row for row in reversed(self.rows) if row.method not in THEIR_SCHEDULES}
        return replace(self, rows=tuple(row for row in self.rows if row in first.values()), orders=min(2, self.orders))


def _without(fault: str) -> str:
    return f"without {fault}"


@EXPERIMENTS.register("authors-runs")
def authors_runs(fields: Fields) -> Experiment:
    """Cycles of all-reduces as the MultiTree authors' simulator counts them, to the return of the last credit.

    Each of `runs` has a `network`, a `method`, a `size`, a `flow` ("message" or "packet"), how many `interfaces` a node has, and
    may have `options` of the method, a number of `chunks`, and single `router` parameters in addition to those of `machine`.
    For ring-2d and double-binary-tree the simulator has its own schedules (`certree.extras.papers.authors.baselines`).
    Columns of all rows but rings: the cycles with all faults of the interfaces (`certree.extras.papers.authors.interface`), the
    minimum and maximum over `orders` orders of events, the cycles without one fault and without any of them, those of a paced run
    of certree's schedule of that name as in the paper, and the share of messages opened while the previous one between the same two
    nodes is in flight. With `orders` 0 there is the first of these columns only. For several sizes a run has a list of them as
    `sizes`.
    """
    machine = load_machine(fields.text("machine"))
    rows = [row for rows in fields.each("runs", lambda entry: _rows(entry, machine), least=1) for row in rows]
    return _AuthorsRuns(tuple(rows), fields.whole("orders", 0))


def _rows(fields: Fields, machine: Machine) -> list[_Row]:
    sizes = fields.sizes("sizes") if "sizes" in fields else (fields.size("size"),)
    row = _row(fields, machine)
    return [replace(row, message_bytes=size) for size in sizes]


def _row(fields: Fields, machine: Machine) -> _Row:
    document = machine.document()
    document["router"] = document["router"] | fields.numbers("router")
    row = _Row(
        network=fields.text("network"),
        method=fields.text("method", known=load_methods()),
        options=tuple(sorted(fields.mapping("options").items())),
        chunks=fields.whole("chunks", default=0) or None,
        message_bytes=0,
        flow=fields.text("flow", known=FRAMINGS),
        interfaces=fields.whole("interfaces", 1, 64),
        machine=machine_from_document(document, fields.where),
    )
    parse_topology(row.network)
    return row


def run_as_authors(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """`cycles`, and what else is known of the run."""
    machine = machine_from_document(arguments["machine"], "machine")
    size, flow, interfaces = arguments["message_bytes"], arguments["flow"], arguments["interfaces"]
    topology = parse_topology(arguments["network"])
    if arguments["kind"] == PACED:
        return _paced(_schedule(arguments, topology, machine), size, machine, interfaces, flow)
    theirs = THEIR_SCHEDULES.get(arguments["method"])
    tables = theirs(topology, interfaces) if theirs else tables_of(_schedule(arguments, topology, machine), interfaces)
    faults = [Fault(name) for name in arguments["faults"]]
    result = AuthorsInterfaces(tables, size, machine, flow=flow, faults=faults, order=arguments["order"]).run()
    return asdict(result) | {"cycles": result.cycles * tables.counted}


def _schedule(arguments: Mapping[str, Any], topology: Topology, machine: Machine) -> Schedule:
    request = Request(
        topology,
        parse_collective("all-reduce"),
        arguments["message_bytes"],
        machine,
        chunks=arguments["chunks"],
        options=arguments["options"],
    )
    return written_out(load_methods()[arguments["method"]](request))


def _paced(schedule: Schedule, size: int, machine: Machine, interfaces: int, flow: str) -> dict[str, Any]:
    """A paced run on routers, with an interface for each link or one for each node; in parts where a chunk's buffer is reused."""
    own = replace(machine, router=replace(machine.router, interfaces="link" if interfaces > 1 else "node"))
    source = tables_or_plan(schedule, size, own, files=False)
    result = run_free(source, Options(mode="paced", engine=Engine.FLIT, framing=flow))
    return {"cycles": result.cycles, "data_ok": result.data_ok}
