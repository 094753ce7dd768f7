"""Times of all-reduces in seconds, simulated by GenModel at the level of flows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from certree.extras.costs.model.flows.flows import flows_at_distance, flows_of
from certree.extras.costs.model.flows.time import NO_TIME, FlowTime, FlowTimer, Reading, parse_reading
from certree.extras.costs.model.formulas.genmodel import FLOAT_BYTES, GenModel, load_genmodel
from certree.extras.papers.experiment import EXPERIMENTS, Cell, Experiment
from certree.extras.papers.experiments.costs.gentree_picks import network_arguments, read_floats
from certree.extras.workers.task import Task
from certree.models.common.errors import UnsupportedError
from certree.models.common.fields import Fields
from certree.models.machine.machine import load_machine
from certree.models.network.spec import parse_topology
from certree.models.network.topology import Topology
from certree.models.schedule.collective import parse_collective
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.symmetric.symmetric_schedule import written_out
from certree.synth.method import Request, load_methods


@dataclass(frozen=True)
class Line:
    """One row: on a network a method with its options, or `rings`: (servers, distance) of each."""

    name: str
    network: str
    method: str | None
    options: tuple[tuple[str, str], ...]
    rings: tuple[tuple[int, int], ...]


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
        of_rings = {"rings": [list(one) for one in line.rings]}
        of_method = {"method": line.method, "options": dict(line.options)}
        arguments = network_arguments(line.network, self.model) | {
            **(of_rings if line.rings else of_method),
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
    """Seconds for vectors of `floats`, a row for each of `lines`, by the GenModel parameters `model` in the given `reading`.

    A line has a `name` and a `network`, and either a `method`, perhaps with `options`, or `rings`: steps without a schedule. Each
    ring of `servers` = S has S start-ups in each direction, and S - 1 steps in which every server sends the S-th part (of a part of
    the previous ring) to the server `distance` ranks further. `reading`: sharing, communicators, incast, each optional, as in
    `certree simulate --engine flow`.
    """
    model = fields.text("model")
    load_genmodel(model)
    return FlowTimes(fields.each("lines", _line, least=1), read_floats(fields), model, parse_reading(fields.mapping("reading")))


def _line(fields: Fields) -> Line:
    name, network = fields.text("name"), fields.text("network")
    topology = parse_topology(network)
    rings = fields.each("rings", lambda entry: _ring(entry, topology))
    method = None if rings else fields.text("method", known=load_methods())
    options = {} if rings else fields.mapping("options")
    return Line(name, network, method, tuple(sorted(options.items())), rings)


def _ring(fields: Fields, topology: Topology) -> tuple[int, int]:
    """(servers, distance); InputError where a server would send to itself."""
    ends = len(topology.endpoints)
    servers, distance = (fields.whole(name, 1, ends) for name in ("servers", "distance"))
    if distance == ends:
        fields.refuse(f"distance {distance} among {ends} servers leads from each to itself")
    return servers, distance


def time_flows(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """`times`, of a `method` or `rings`: for each of `floats` and each of `readings` the seconds and their parts; or the `reason`
    why there are none."""
    topology, model = parse_topology(arguments["network"]), load_genmodel(arguments["model"])
    readings = [parse_reading(reading) for reading in arguments["readings"]]
    floats = list(map(Fraction, arguments["floats"]))
    try:
        if "rings" in arguments:
            times = _of_rings(topology, model, floats, readings, arguments["rings"])
        else:
            times = _of_method(topology, model, floats, readings, arguments["method"], arguments["options"])
    except UnsupportedError as error:
        return {"reason": str(error)}
    return {"times": [[_document(time) for time in row] for row in times]}


def _of_method(
    topology: Topology,
    model: GenModel,
    sizes: Sequence[Fraction],
    readings: Sequence[Reading],
    name: str,
    options: Mapping[str, str],
) -> list[list[FlowTime]]:
    """Times of a method. A schedule that is the same for several sizes is simulated once: times but start-up scale with size."""
    method, collective, machine = load_methods()[name], parse_collective("all-reduce"), load_machine("multitree")
    times: list[list[FlowTime]] = []
    before: tuple[Schedule, Fraction] | None = None
    for floats in sizes:
        schedule = written_out(method(Request(topology, collective, int(floats) * FLOAT_BYTES, machine, options=options)))
        if before is not None and _same(schedule, before[0]):
            times.append([time.stretched(floats / before[1]) for time in times[-1]])
        else:
            steps = flows_of(schedule)
            times.append([FlowTimer(topology, model, floats, reading).total(steps) for reading in readings])
        before = schedule, floats
    return times


def _of_rings(
    topology: Topology,
    model: GenModel,
    sizes: Sequence[Fraction],
    readings: Sequence[Reading],
    rings: Sequence[tuple[int, int]],
) -> list[list[FlowTime]]:
    """Times of `rings` as in `flow_times`, simulated at the least size."""
    least = min(sizes)
    found: list[FlowTime] = []
    for timer in [FlowTimer(topology, model, least, reading) for reading in readings]:
        total, shares = NO_TIME, 1
        for servers, distance in rings:
            shares *= servers
            for added in (True, False):
                step = timer.step(flows_at_distance(topology, distance, shares, added=added))
                others = servers - 1
                total += FlowTime(servers, step.start_up * servers, step.transfer * others, step.reduction * others)
        found.append(total)
    return [[time.stretched(floats / least) for time in found] for floats in sizes]


def _same(one: Schedule, other: Schedule) -> bool:
    """Whether the transfers are the same, row by row."""
    names = ("step", "op", "chunk", "src", "dst", "route")
    return one.routes == other.routes and all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names)


def _document(time: FlowTime) -> dict[str, Any]:
    seconds = {"seconds": time.seconds, "start_up_seconds": time.start_up, "transfer_seconds": time.transfer}
    return {"steps": time.steps, **{name: str(value) for name, value in seconds.items()}}
