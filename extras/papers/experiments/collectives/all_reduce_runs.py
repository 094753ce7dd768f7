"""All-reduces by several methods, simulated on several networks at several sizes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from fractions import Fraction
from typing import Any

from certree.api.api_errors import InvalidScheduleError
from certree.api.reports.text import size_words
from certree.api.runs.deadlocks import run_free
from certree.extras.papers.experiment import EXPERIMENTS, Cell, Experiment
from certree.extras.reports.make.figure import Panel, Plot, Series
from certree.extras.workers.task import Task
from certree.hw.engines.runs import FASTEST, MODES, Options
from certree.hw.engines.schedule_run import SimulatedSchedule
from certree.hw.run import tables_or_plan
from certree.models.common.errors import UnsupportedError
from certree.models.common.fields import Fields
from certree.models.machine.machine import Machine, load_machine, machine_from_document
from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import parse_collective
from certree.models.schedule.timing import FRAMINGS
from certree.models.tables.tables import Tables
from certree.synth.method import Request, load_methods

CLOSED_FORM = "closed-form"  # no run
WITHOUT_ROUTERS = "without routers, through which messages that meet may take longer"
MEASURES = ("bandwidth", "time", "growth")
MEAN = "mean"  # column of the mean over all networks
SMOKE_BYTES = 1 << 20  # largest size of a smoke run, if the target has smaller ones


@dataclass(frozen=True)
class Line:
    """One curve: a method with its options, in message or packet flow, slotted or paced, on a machine; of several methods, and of
    both execution models, the fastest. It is drawn for networks that one of `networks` (patterns) matches."""

    name: str
    methods: tuple[str, ...]
    flow: str
    run: str
    options: tuple[tuple[str, str], ...]
    machine: Machine
    networks: tuple[str, ...]


@dataclass(frozen=True)
class Ratio:
    """The speed-up of line `of` over line `over`."""

    of: str
    over: str


def all_reduce_task(line: Line, network: str, size: int, routers_up_to: int | None) -> Task:
    """One line on one network at one size; larger ones than `routers_up_to` leave routers out."""
    arguments = {
        "network": network,
        "network_digest": parse_topology(network).digest,  # it may be a file
        "methods": line.methods,
        "options": dict(line.options),
        "flow": line.flow,
        "run": line.run,
        "message_bytes": size,
        "machine": line.machine.document(),
        "without_routers": routers_up_to is not None and size > routers_up_to,
    }
    return Task(f"{line.name} on {network}, {size_words(size)}", run_all_reduce, arguments)


@dataclass(frozen=True)
class _Run:
    """One simulation, and the cell that it fills."""

    network: str
    line: Line
    message_bytes: int


@dataclass(frozen=True)
class _AllReduceRuns(Experiment):
    """`sizes` are bytes, or bytes per node where `per_node`."""

    measure: str
    networks: tuple[str, ...]
    sizes: tuple[int, ...]
    per_node: bool
    lines: tuple[Line, ...]
    ratios: tuple[Ratio, ...]
    routers_up_to: int | None

    @property
    def across_networks(self) -> bool:
        """Whether a column is a network: there is one size for each."""
        return self.per_node or self.measure == "growth"

    def _runs(self) -> Iterator[_Run]:
        for network in self.networks:
            nodes = len(parse_topology(network).endpoints) if self.per_node else 1
            for line in self.lines:
                if any(fnmatchcase(network, pattern) for pattern in line.networks):
                    yield from (_Run(network, line, size * nodes) for size in self.sizes)

    def tasks(self) -> list[Task]:
        return [all_reduce_task(run.line, run.network, run.message_bytes, self.routers_up_to) for run in self._runs()]

    def cells(self, results: Sequence[Mapping[str, Any]]) -> list[Cell]:
        cells, cycles = [], {}
        for run, result in zip(self._runs(), results, strict=True):
            cycles[run.network, run.line.name, run.message_bytes] = result["cycles"]
            cells.append(self._cell(run, result, self._base(run.line.name, cycles)))
        return sorted(cells, key=self._order(cells)) + list(self._ratio_cells(cycles))

    def _base(self, line: str, cycles: Mapping[tuple[str, str, int], int | None]) -> int:
        """The cycles by which a line is divided: the first of all lines for times, else its own first; 1 where none is known."""
        found = [value for (_, name, _), value in cycles.items() if value and (self.measure == "time" or name == line)]
        return found[0] if found else 1

    def _place(self, network: str, line: str, message_bytes: int) -> tuple[str, str]:
        """Row and column."""
        if self.across_networks:
            return line, network
        return f"{network} {line}", size_words(message_bytes)

    def _order(self, cells: list[Cell]) -> Any:
        rows = {row: index for index, row in enumerate(dict.fromkeys(cell.row for cell in cells))}
        return lambda cell: rows[cell.row]

    def _cell(self, run: _Run, result: Mapping[str, Any], base: int) -> Cell:
        row, column = self._place(run.network, run.line.name, run.message_bytes)
        more = {"network": run.network, "line": run.line.name, "message_bytes": run.message_bytes}
        known = {name: value for name, value in result.items() if name != "reason"}
        ours = None
        if result["cycles"] is not None:
            bandwidth = Fraction(run.message_bytes, result["cycles"])
            ours = bandwidth if self.measure == "bandwidth" else Fraction(result["cycles"], base)
            more |= known
        return Cell(row, column, ours, result.get("reason"), more)

    def _ratio_cells(self, cycles: Mapping[tuple[str, str, int], int | None]) -> Iterator[Cell]:
        for ratio in self.ratios:
            row, quotients = f"{ratio.over} / {ratio.of}", []
            for network, line, size in cycles:
                ours, others = cycles[network, line, size], cycles.get((network, ratio.over, size))
                if line == ratio.of and ours is not None and others is not None:
                    quotients.append(Fraction(others, ours))
                    yield Cell(*self._place(network, row, size), quotients[-1])
            if self.across_networks and len(quotients) > 1:
                yield Cell(row, MEAN, sum(quotients, Fraction(0)) / len(quotients))

    def plot(self, cells: Sequence[Cell]) -> Plot:
        drawn = [cell for cell in cells if "cycles" in cell.more]
        if self.across_networks:
            nodes = {network: len(parse_topology(network).endpoints) for network in self.networks}
            panel = Panel("", self._series(drawn, lambda cell: nodes[cell.more["network"]]))
            over = "of the line's first" if self.measure == "growth" else "of the first cell"
            return Plot((panel,), x_label="nodes", y_label=f"time over that {over}")
        panels = tuple(
            Panel(network, self._series([cell for cell in drawn if cell.more["network"] == network], _size_of))
            for network in self.networks
        )
        if self.measure == "bandwidth":
            return Plot(panels, x_label="message size", y_label="bytes per cycle", x_scale="bytes")
        return Plot(panels, x_label="message size", y_label="time over that of the first cell", x_scale="bytes", y_scale="log")

    def _series(self, cells: list[Cell], x: Any) -> tuple[Series, ...]:
        points: dict[str, list[tuple[float | str, float]]] = {line.name: [] for line in self.lines}
        for cell in cells:
            points[cell.more["line"]].append((x(cell), float(Fraction(cell.ours or 0))))
        return tuple(Series(name, tuple(found)) for name, found in points.items())

    def smoke(self) -> "_AllReduceRuns":
        """The first network, and the first and the last size up to SMOKE_BYTES."""
        sizes = [size for size in self.sizes if size <= SMOKE_BYTES] or list(self.sizes[:1])
        return replace(self, networks=self.networks[:1], sizes=tuple(dict.fromkeys((sizes[0], sizes[-1]))))

    def on(self, networks: Sequence[str]) -> "_AllReduceRuns":
        for network in networks:
            parse_topology(network)
        lines = tuple(replace(line, networks=("*",)) for line in self.lines)
        return replace(self, networks=tuple(networks), lines=lines)


def _size_of(cell: Cell) -> int:
    return int(cell.more["message_bytes"])


@EXPERIMENTS.register("all-reduce-runs")
def all_reduce_runs(fields: Fields) -> Experiment:
    """All-reduces of `sizes`, or of `bytes_per_node`, on `networks`, a curve for each of `lines`; `ratios` between them.

    measure = "bandwidth": bytes per cycle. "time": cycles over those of the first cell. "growth": cycles over those of the same
    line on the first network, for one size.
    A line has `name`, `method` (of several the fastest counts), and may have `options`, `flow` ("message" or "packet"), `run`
    ("paced", "slotted" or "fastest"), `machine`, where it is not the target's, single `parameters` of it, and `networks`, patterns
    that say which of the target's it is for.
    What has no tables is paced part by part (`certree.hw.engines.schedule_run`), or runs in slots from its own transfers; the cell
    says so. What no method makes is a cell with the reason. Runs go through routers where these add something; `routers_up_to` is a
    size beyond which they do not, and the cell says that it is not exact.
    """
    machine = fields.text("machine")
    per_node = "bytes_per_node" in fields
    if per_node == ("sizes" in fields):
        fields.refuse("one of sizes and bytes_per_node is needed")
    sizes = (fields.size("bytes_per_node"),) if per_node else fields.sizes("sizes")
    experiment = _AllReduceRuns(
        measure=fields.text("measure", known=MEASURES),
        networks=fields.texts("networks"),
        sizes=sizes,
        per_node=per_node,
        lines=fields.each("lines", lambda entry: _line(entry, machine), least=1, distinct="name"),
        ratios=(),
        routers_up_to=routers_up_to(fields),
    )
    if experiment.measure == "growth" and len(sizes) > 1:
        fields.refuse(f'measure = "growth" is for one size; sizes are {", ".join(fields.texts("sizes"))}')
    names = [line.name for line in experiment.lines]
    for network in experiment.networks:
        parse_topology(network)
    return replace(experiment, ratios=fields.each("ratios", lambda entry: _ratio(entry, names)))


def _line(fields: Fields, machine: str) -> Line:
    preset = load_machine(fields.text("machine", default=machine))
    return Line(
        name=fields.text("name"),
        methods=fields.text_or_texts("method", known=load_methods()),
        flow=fields.text("flow", default="message", known=FRAMINGS),
        run=fields.text("run", default="paced", known=(*MODES, FASTEST)),
        options=tuple(sorted(fields.mapping("options").items())),
        machine=machine_from_document(preset.document() | fields.numbers("parameters"), f"{fields.where}: parameters"),
        networks=fields.texts("networks", default=["*"]),
    )


def routers_up_to(fields: Fields) -> int | None:
    """The largest size whose runs go through routers; None: all do, where these add something."""
    return fields.size("routers_up_to") if "routers_up_to" in fields else None


def _ratio(fields: Fields, lines: list[str]) -> Ratio:
    return Ratio(fields.text("of", known=lines), fields.text("over", known=lines))


def run_all_reduce(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """`cycles` of the fastest run, how it ran and its `closed_form_cycles`, or None with the `reason` why there are none.

    `run`: one of MODES, FASTEST of them, or CLOSED_FORM, which runs nothing.
    """
    machine = machine_from_document(arguments["machine"], "machine")
    size, modes = arguments["message_bytes"], MODES if arguments["run"] == FASTEST else (arguments["run"],)
    network, collective = parse_topology(arguments["network"]), parse_collective("all-reduce")
    found, reasons = [], []
    for method in arguments["methods"]:
        try:
            request = Request(network, collective, size, machine, options=arguments["options"])
            made = load_methods()[method](request)
            closed = {"closed_form_cycles": request.cycles(made)}
            if arguments["run"] == CLOSED_FORM:
                runs = [{"cycles": closed["closed_form_cycles"], "run": CLOSED_FORM, "data_ok": True}]
            else:
                options = Options(framing=arguments["flow"], without_routers=arguments["without_routers"])
                runs = [_simulated(tables_or_plan(made, size, machine, files=False), replace(options, mode=mode)) for mode in modes]
        except (UnsupportedError, InvalidScheduleError) as error:
            reasons.append(str(error))
            continue
        if not all(run.pop("data_ok") for run in runs):
            reasons.append(f"{method}: the run ends with wrong data")
            continue
        found += [run | closed | {"method": made.provenance.get("method", method)} for run in runs]
    return min(found, key=lambda run: run["cycles"]) if found else {"cycles": None, "reason": "; ".join(reasons)}


def _simulated(source: Tables | SimulatedSchedule, options: Options) -> dict[str, Any]:
    """The run as asked for, if need be in parts; in slots where nothing else is possible."""
    reasons = []
    try:
        result = run_free(source, options)
    except UnsupportedError as error:
        if options.mode == "slotted":
            raise
        result = run_free(source, replace(options, mode="slotted"))
        reasons.append(f"in slots, since it cannot be paced: {error}")
    if result.parts > 1:
        reasons.append(f"paced in {result.parts} parts with a barrier between them, since it reuses a chunk's buffer")
    if not result.is_exact:
        reasons.append(WITHOUT_ROUTERS)
    names = ("cycles", "contention_cycles", "data_ok", "source")
    told = {name: getattr(result, name) for name in names} | {"run": result.mode, "exact": result.is_exact}
    return told | ({"reason": "; ".join(reasons)} if reasons else {})
