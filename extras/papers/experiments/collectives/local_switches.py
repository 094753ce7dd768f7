"""Simulated collectives inside packages whose nodes share local switches, compared with networks without switches."""

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from certree.api.api_errors import InvalidScheduleError
from certree.api.reports.text import size_words
from certree.api.runs.deadlocks import run_free
from certree.extras.papers.experiment import EXPERIMENTS, Cell, Experiment
from certree.extras.reports.make.figure import Panel, Plot, Series
from certree.extras.workers.task import Task
from certree.hw.engines.runs import AUTO, MODES, Engine, Options
from certree.hw.engines.schedule_run import SimulatedSchedule
from certree.models.common.errors import UnsupportedError
from certree.models.common.fields import Fields
from certree.models.machine.machine import Machine, load_machine, machine_from_document
from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import parse_collective
from certree.models.schedule.symmetric.symmetric_schedule import written_out
from certree.synth.method import Request, load_methods

ENGINES = (AUTO, Engine.FLIT)
SWITCHES, SIZES = "switches", "sizes"
NO_SWITCH, BEST = "no switch", "best"  # columns: of lines without local switches; of the best of all numbers of switches
CYCLES, SAVED, AT_MOST = ": cycles", ": saved", " at most"  # ends of rows
NODES_WORD, SWITCHES_WORD, HALF_WORD = "{nodes}", "{switches}", "{half}"


@dataclass(frozen=True)
class Line:
    """A method on a network that is named after the numbers of nodes and switches. Its message is cut into `channels` pieces, in
    total or per switch that it uses; `over` is the line that it is compared with."""

    name: str
    network: str
    collective: str
    method: str
    run: str
    options: tuple[tuple[str, str], ...]
    channels: int
    channels_per_switch: int
    over: str | None

    @property
    def has_switches(self) -> bool:
        """Whether it runs once for each number of switches."""
        return SWITCHES_WORD in self.network or HALF_WORD in self.network

    def used(self, switches: int) -> int:
        """The number of switches it uses: all, or half of them, at least one."""
        return max(1, switches // 2) if HALF_WORD in self.network else switches

    def network_of(self, nodes: int, switches: int) -> str:
        """The network's name."""
        words = {NODES_WORD: nodes, SWITCHES_WORD: switches, HALF_WORD: self.used(switches)}
        return functools.reduce(lambda name, word: name.replace(word, str(words[word])), words, self.network)


@dataclass(frozen=True)
class _Run:
    """One simulation; `switches` is None on a network that has none."""

    line: Line
    nodes: int
    switches: int | None
    message_bytes: int
    machine: Machine
    engine: str

    @property
    def task(self) -> Task:
        line, switches = self.line, self.switches or 0
        network, options = line.network_of(self.nodes, switches), dict(line.options)
        channels = line.channels_per_switch * line.used(switches) if line.channels_per_switch else line.channels
        if channels > 1:
            options["channels"] = str(channels)
        arguments = {
            "network": network,
            "network_digest": parse_topology(network).digest,  # it may be a file
            "collective": line.collective,
            "method": line.method,
            "run": line.run,
            "options": options,
            "message_bytes": self.message_bytes,
            "machine": self.machine.document(),
            "engine": self.engine,
        }
        return Task(f"{line.name} on {network}, {size_words(self.message_bytes)}", run_line, arguments)


@dataclass(frozen=True)
class _LocalSwitches(Experiment):
    """`switches`: the numbers of local switches, None for every number from 1 to that of the nodes."""

    machine: Machine
    engine: str
    columns: str
    nodes: tuple[int, ...]
    switches: tuple[int, ...] | None
    sizes: tuple[int, ...]
    lines: tuple[Line, ...]

    def _runs(self) -> Iterator[_Run]:
        for nodes in self.nodes:
            counts = self.switches or tuple(range(1, nodes + 1))
            for line in self.lines:
                for switches in counts if line.has_switches else (None,):
                    for size in self.sizes:
                        yield _Run(line, nodes, switches, size, self.machine, self.engine)

    def tasks(self) -> list[Task]:
        return [run.task for run in self._runs()]

    def cells(self, results: Sequence[Mapping[str, Any]]) -> list[Cell]:
        runs = list(self._runs())
        cycles = {_key(run): result["cycles"] for run, result in zip(runs, results, strict=True)}
        rows: dict[str, list[Cell]] = {}
        for run, result in zip(runs, results, strict=True):
            row, column = self._place(run)
            known = {name: value for name, value in result.items() if name not in ("cycles", "reason")}
            more = known | {"nodes": run.nodes, "line": run.line.name, "message_bytes": run.message_bytes}
            ours = None if result["cycles"] is None else Fraction(result["cycles"])
            rows.setdefault(row + CYCLES, []).append(Cell(row + CYCLES, column, ours, result.get("reason"), more))
            base = None if run.line.over is None else cycles.get((run.line.over, run.nodes, None, run.message_bytes))
            if ours is not None and base is not None:
                rows.setdefault(row + SAVED, []).append(Cell(row + SAVED, column, 1 - ours / base))
        return [cell for cells in rows.values() for cell in cells] + list(self._best(rows))

    def _best(self, rows: Mapping[str, Sequence[Cell]]) -> Iterator[Cell]:
        """The most that any number of switches saves, where these numbers are columns."""
        for row, cells in rows.items():
            found = [cell.ours for cell in cells if isinstance(cell.ours, Fraction)]
            if row.endswith(SAVED) and self.columns == SWITCHES and found:
                yield Cell(row + AT_MOST, BEST, max(found))

    def _place(self, run: _Run) -> tuple[str, str]:
        """Row and column."""
        where = f"{run.nodes} nodes"
        if self.columns == SWITCHES:
            return f"{where}, {run.line.name}", NO_SWITCH if run.switches is None else str(run.switches)
        if run.switches is not None:
            where += f", {run.switches} switches"
        return f"{where}, {run.line.name}", size_words(run.message_bytes)

    def plot(self, cells: Sequence[Cell]) -> Plot:
        panels = []
        for nodes in self.nodes:
            lines: dict[str, list[tuple[float | str, float]]] = {}
            for cell in cells:
                if cell.more.get("nodes") == nodes and isinstance(cell.ours, Fraction):
                    name = cell.more["line"] if self.columns == SWITCHES else _words_after_nodes(cell.row)
                    x = cell.column if self.columns == SWITCHES else float(cell.more["message_bytes"])
                    lines.setdefault(name, []).append((x, float(cell.ours)))
            series = (Series(name, tuple(points)) for name, points in lines.items())
            panels.append(Panel(f"{nodes} nodes", tuple(series)))
        if self.columns == SWITCHES:
            return Plot(tuple(panels), x_label="local switches", y_label="cycles", x_scale="names")
        return Plot(tuple(panels), x_label="message size", y_label="cycles", x_scale="bytes")

    def smoke(self) -> "_LocalSwitches":
        """The first number of nodes with as few and as many switches as there are, and the first size."""
        counts = self.switches or tuple(range(1, self.nodes[0] + 1))
        return replace(self, nodes=self.nodes[:1], switches=tuple(dict.fromkeys((counts[0], counts[-1]))), sizes=self.sizes[:1])


def _key(run: _Run) -> tuple[str, int, int | None, int]:
    return run.line.name, run.nodes, run.switches, run.message_bytes


def _words_after_nodes(row: str) -> str:
    """The description of the line in the name of a row: "3 switches, all-reduce" of "4 nodes, 3 switches, all-reduce: cycles"."""
    return row.split(", ", 1)[1].removesuffix(CYCLES)


def run_line(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """`cycles` of a run with right data at every rank, or None with the `reason` why there is no such run."""
    machine, size = machine_from_document(arguments["machine"], "machine"), arguments["message_bytes"]
    network, collective = parse_topology(arguments["network"]), parse_collective(arguments["collective"])
    request = Request(network, collective, size, machine, options=arguments["options"])
    try:
        plan = SimulatedSchedule.of(written_out(load_methods()[arguments["method"]](request)), size, machine)
        result = run_free(plan, Options(mode=arguments["run"], engine=arguments["engine"]))
    except (UnsupportedError, InvalidScheduleError) as error:
        return {"cycles": None, "reason": str(error)}
    if not result.data_ok:
        return {"cycles": None, "reason": "the run ends with wrong data"}
    told = {"cycles": result.cycles, "closed_form_cycles": result.closed_form_cycles, "contention_cycles": result.contention_cycles}
    return told | {
        "engine": result.engine,
        "network": arguments["network"],
        "slot_cycles": plan.slot_cycles,
        "steps": plan.schedule.total_steps,
    }


@EXPERIMENTS.register("local-switches")
def local_switches(fields: Fields) -> Experiment:
    """Collectives in packages of `nodes` with a number of local switches: cycles, and what part of a baseline's they save.

    columns = "switches": one size, a column for each number of switches, and the most that any of them saves; "sizes": a row
    for each number of them. `switches` are all numbers from 1 to that of the nodes where the file names none. `engine` is
    "flit", or "auto": through routers only where they may add something.
    A line has `name`, `network` (with {nodes} and, where there are local switches, {switches}, or {half} where it uses half of them
    only), `collective`, `method`, and may have `options`, `run` ("slotted" or "paced"), `channels` or `channels_per_switch` (pieces
    of a message, each on its own route), and `over`, the baseline's name.
    """
    columns = fields.text("columns", known=(SWITCHES, SIZES))
    experiment = _LocalSwitches(
        machine=load_machine(fields.text("machine")),
        engine=fields.text("engine", default="flit", known=ENGINES),
        columns=columns,
        nodes=fields.wholes("nodes", 1),
        switches=fields.wholes("switches", 1) if "switches" in fields else None,
        sizes=fields.sizes("sizes"),
        lines=fields.each("lines", _line, least=1, distinct="name"),
    )
    if columns == SWITCHES and len(experiment.sizes) > 1:
        fields.refuse(f'columns = "{SWITCHES}" is for one size; sizes has {len(experiment.sizes)}')
    bases = [line.name for line in experiment.lines if not line.has_switches]
    for line in experiment.lines:
        if line.over is not None and line.over not in bases:
            fields.refuse(f"{line.name} is compared with {line.over!r}; known lines without switches: {', '.join(bases) or 'none'}")
    experiment.tasks()  # an unknown network is an error before any work
    return experiment


def _line(fields: Fields) -> Line:
    per_switch = "channels_per_switch" in fields
    line = Line(
        name=fields.text("name"),
        network=fields.text("network"),
        collective=fields.text("collective"),
        method=fields.text("method", known=load_methods()),
        run=fields.text("run", default="slotted", known=MODES),
        options=tuple(sorted(fields.mapping("options").items())),
        channels=1 if per_switch else fields.whole("channels", 1, default=1),
        channels_per_switch=fields.whole("channels_per_switch", 1) if per_switch else 0,
        over=fields.text("over") if "over" in fields else None,
    )
    parse_collective(line.collective)
    if per_switch and not line.has_switches:
        fields.refuse(f"channels_per_switch needs {SWITCHES_WORD} or {HALF_WORD} in network, which is {line.network!r}")
    return line
