"""Seconds of all-reduces on networks, simulated at the level of flows by GenModel."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from certree.cli.experiment import EXPERIMENTS, Cell, Experiment, Task
from certree.cli.experiments.gentree_picks import network_arguments, read_floats
from certree.cli.fields import Fields
from certree.models.collective import parse_collective
from certree.models.cost.flow_time import FlowTime, FlowTimer, Reading, parse_reading
from certree.models.cost.flows import flows_of
from certree.models.cost.genmodel import FLOAT_BYTES, load_genmodel
from certree.models.errors import UnsupportedError
from certree.models.machine import load_machine
from certree.models.schedule import Schedule
from certree.models.symmetric import written_out
from certree.models.topology_spec import parse_topology
from certree.synth.method import Request, load_methods


@dataclass(frozen=True)
class Line:
    """One row: a method with its options on a network."""

    name: str
    network: str
    method: str
    options: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class FlowTimes(Experiment):
    """Every line at every size, in one reading; `flow-readings` asks for others of the same lines."""

    lines: tuple[Line, ...]
    floats: tuple[str, ...]
    model: str
    reading: Reading

    def tasks(self) -> list[Task]:
        """One for each line."""
        return self.tasks_read_as((self.reading,))

    def tasks_read_as(self, readings: Sequence[Reading]) -> list[Task]:
        """The tasks in several readings at once."""
        return [self._task(line, readings) for line in self.lines]

    def _task(self, line: Line, readings: Sequence[Reading]) -> Task:
        """The line at every size in every one of the readings."""
        arguments = network_arguments(line.network, self.model) | {
            "method": line.method,
            "options": dict(line.options),
            "floats": list(self.floats),
            "readings": [vars(reading) for reading in readings],
        }
        return Task(f"{line.name}, {len(self.floats)} sizes", time_flows, arguments)

    def cells(self, results: Sequence[Mapping[str, Any]]) -> list[Cell]:
        """Line by line, size by size."""
        return self.cells_of(results, 0)

    def cells_of(self, results: Sequence[Mapping[str, Any]], reading: int) -> list[Cell]:
        """The cells in the reading of that number."""
        cells: list[Cell] = []
        for line, result in zip(self.lines, results, strict=True):
            for number, floats in enumerate(self.floats):
                if "reason" in result:
                    cells.append(Cell(line.name, floats, None, result["reason"]))
                else:
                    entry = result["times"][number][reading]
                    cells.append(Cell(line.name, floats, Fraction(entry["seconds"]), more=entry))
        return cells

    def smoke(self) -> "FlowTimes":
        """The first network."""
        return replace(self, lines=tuple(line for line in self.lines if line.network == self.lines[0].network))


@EXPERIMENTS.register("flow-times")
def flow_times(fields: Fields) -> Experiment:
    """Seconds for vectors of `floats`, a row for each of `lines`, by the GenModel parameters `model` read as `reading` says.

    A line has a `name`, `network`, `method`, and may have `options` of the method. `reading`: sharing, communicators, incast, each
    optional, as in `certree simulate --engine flow`.
    """
    model = fields.text("model")
    load_genmodel(model)
    lines = tuple(map(_line, fields.tables("lines")))
    if not lines:
        fields.refuse("lines are missing")
    return FlowTimes(lines, read_floats(fields), model, parse_reading(fields.mapping("reading")))


def _line(fields: Fields) -> Line:
    line = Line(
        name=fields.text("name"),
        network=fields.text("network"),
        method=fields.text("method", known=load_methods()),
        options=tuple(sorted(fields.mapping("options").items())),
    )
    parse_topology(line.network)
    fields.done()
    return line


def time_flows(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """`times`: for each of `floats` and each of `readings` the seconds and their parts; or the `reason` why there are none.

    Where the schedule is the same for several sizes its flows are simulated once: all times but start-up grow with the size.
    """
    topology, model = parse_topology(arguments["network"]), load_genmodel(arguments["model"])
    method, collective, machine = load_methods()[arguments["method"]], parse_collective("all-reduce"), load_machine("multitree")
    readings = [parse_reading(reading) for reading in arguments["readings"]]
    times: list[list[FlowTime]] = []
    before: tuple[Schedule, Fraction] | None = None
    for floats in map(Fraction, arguments["floats"]):
        request = Request(topology, collective, int(floats) * FLOAT_BYTES, machine, options=arguments["options"])
        try:
            schedule = written_out(method(request))
        except UnsupportedError as error:
            return {"reason": str(error)}
        if before is not None and _same(schedule, before[0]):
            times.append([time.stretched(floats / before[1]) for time in times[-1]])
        else:
            steps = flows_of(schedule)
            times.append([FlowTimer(topology, model, floats, reading).total(steps) for reading in readings])
        before = schedule, floats
    return {"times": [[_document(time) for time in row] for row in times]}


def _same(one: Schedule, other: Schedule) -> bool:
    """Whether the transfers are the same, row by row."""
    names = ("step", "op", "chunk", "src", "dst", "route")
    return one.routes == other.routes and all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names)


def _document(time: FlowTime) -> dict[str, Any]:
    seconds = {"seconds": time.seconds, "start_up_seconds": time.start_up, "transfer_seconds": time.transfer}
    return {"steps": time.steps, **{name: str(value) for name, value in seconds.items()}}
