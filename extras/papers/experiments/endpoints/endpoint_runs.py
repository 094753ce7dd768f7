"""Collectives run by the endpoints of several networks, system by system."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from certree.api.reports.text import size_words
from certree.extras.endpoints.model.endpoint import Endpoint, load_endpoint
from certree.extras.endpoints.run.endpoint_program import Choices, Payload
from certree.extras.endpoints.run.ideal import run_system
from certree.extras.endpoints.run.tables.joint_machine import joint_tables, run_joint
from certree.extras.papers.experiment import EXPERIMENTS, Cell, Experiment
from certree.extras.reports.make.figure import Panel, Plot, Series
from certree.extras.workers.task import Task
from certree.hw.engines.runs import Run
from certree.models.common.errors import UnsupportedError
from certree.models.common.fields import ABOVE_ZERO, Fields
from certree.models.machine.machine import load_machine
from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import Collective, parse_collective
from certree.models.schedule.symmetric.symmetric_schedule import written_out
from certree.synth.method import Request, load_methods

MACHINE = "multitree"  # for methods that use machine parameters
MEAN = "mean"
SHOWN = ("time", "delays")
#: delays of a run, in the words of ACE's Fig. 11
PARTS = {
    "bus_queuing": "bus queuing",
    "bus_transfer": "bus transfer",
    "local_reduction": "local reduction",
    "chunk_queuing": "chunk queuing",
    "network_transfer": "message network transfer",
}
SMOKE_BYTES = 1 << 20


@dataclass(frozen=True)
class Line:
    """A curve: a system with its own or another chunk size, a method, and the parts (`ways`) of the schedule that chunks run in
    turn. `memory`: bytes per second of the memory bus, as text, where it is not the system's own. `or_shorter`: a system that
    bounds another one takes that one's chunks, which are shorter, where these are faster, whatever `chunk_bytes` says. `tables`:
    the run is that of tables in the one machine of `simulate`, without parts of schedules; only engines have chunks that queue."""

    name: str
    system: str
    chunk_bytes: int | None
    method: str
    ways: int
    bounded: bool
    memory: str | None
    or_shorter: bool = False
    tables: bool = False

    def arguments(self) -> dict[str, Any]:
        """The fields of the line; the last two where they are set, so that results of other lines keep their names."""
        return {name: value for name, value in vars(self).items() if name not in ("or_shorter", "tables") or value}


@dataclass(frozen=True)
class _Run:
    network: str
    line: Line
    size: int


@dataclass(frozen=True)
class _EndpointRuns(Experiment):
    """`show` "time": microseconds; "delays": cycles of the parts of Fig. 11, of one size. `sizes_beside` are in no mean. `ratios`:
    (of, over)."""

    params: str
    collective: Collective
    networks: tuple[str, ...]
    sizes: tuple[int, ...]
    sizes_beside: tuple[int, ...]
    show: str
    lines: tuple[Line, ...]
    ratios: tuple[tuple[str, str], ...]

    def _runs(self) -> Iterator[_Run]:
        for network in self.networks:
            for line in self.lines:
                yield from (_Run(network, line, size) for size in (*self.sizes, *self.sizes_beside))

    def tasks(self) -> list[Task]:
        return [self._task(run) for run in self._runs()]

    def _task(self, run: _Run) -> Task:
        endpoint = load_endpoint(self.params)
        arguments = {
            "network": run.network,
            "network_digest": parse_topology(run.network).digest,  # it may be a file
            "params": self.params,
            "params_contents": str(endpoint),
            "collective": str(self.collective.kind),
            "size": run.size,
            "line": run.line.arguments(),
        }
        return Task(f"{run.line.name} on {run.network}, {size_words(run.size)}", run_line, arguments)

    def cells(self, results: Sequence[Mapping[str, Any]]) -> list[Cell]:
        found = {(run.network, run.line.name, run.size): result for run, result in zip(self._runs(), results, strict=True)}
        if self.show == "delays":
            return [*self._delay_cells(found), *self._saving_cells(found)]
        return [*self._time_cells(found), *self._ratio_cells(found)]

    def _time_cells(self, found: Mapping[tuple[str, str, int], Mapping[str, Any]]) -> Iterator[Cell]:
        for (network, line, size), result in found.items():
            more = {"network": network, "line": line, "size": size, **result}
            ours = None if result["cycles"] is None else 10**6 * Fraction(result["seconds"])
            yield Cell(f"{network} {line}", size_words(size), ours, result.get("reason"), more)

    def _ratio_cells(self, found: Mapping[tuple[str, str, int], Mapping[str, Any]]) -> Iterator[Cell]:
        for of, over in self.ratios:
            every: list[Fraction] = []
            for network in self.networks:
                own = []
                for size in (*self.sizes, *self.sizes_beside):
                    fast, slow = found[network, of, size]["cycles"], found[network, over, size]["cycles"]
                    if fast is not None and slow is not None:
                        ratio = Fraction(slow, fast)
                        yield Cell(f"{network} {over} / {of}", size_words(size), ratio)
                        own += [ratio] * (size in self.sizes)
                yield from _mean_cell(f"{network} {over} / {of}", own)
                every += own
            yield from _mean_cell(f"{over} / {of}", every)

    def _delay_cells(self, found: Mapping[tuple[str, str, int], Mapping[str, Any]]) -> Iterator[Cell]:
        for line in self.lines:
            for part, words in PARTS.items():
                for (network, name, _), result in found.items():
                    if name == line.name and result["cycles"] is not None and part in result["delays"]:
                        more = {"network": network, "line": name, "part": words}
                        yield Cell(f"{name}: {words}", network, Fraction(result["delays"][part]), more=more)

    def _saving_cells(self, found: Mapping[tuple[str, str, int], Mapping[str, Any]]) -> Iterator[Cell]:
        """Savings in queuing of chunks, and in bus time of messages and chunks, at each endpoint."""
        for of, over in self.ratios:
            for part, words in (("chunk_queuing", "chunk queuing"), ("bus_total", "bus congestion")):
                every = []
                for network in self.networks:
                    pair = [found[network, name, self.sizes[0]].get("delays", {}) for name in (of, over)]
                    if not all(part in delays for delays in pair):
                        continue  # one of them cannot run, or is one of tables whose chunks have no queue
                    less, more = (Fraction(delays[part]) for delays in pair)
                    if more:
                        every.append(1 - less / more)
                        yield Cell(f"{words}: {of} less than {over} by", network, every[-1])
                yield from _mean_cell(f"{words}: {of} less than {over} by", every)

    def plot(self, cells: Sequence[Cell]) -> Plot:
        if self.show == "delays":
            return Plot(self._delay_panels(cells), x_label="", y_label="cycles", x_scale="names", y_scale="log")
        panels = []
        for network in self.networks:
            points: dict[str, list[tuple[float | str, float]]] = {line.name: [] for line in self.lines}
            for cell in cells:
                if cell.more.get("network") == network and cell.ours is not None:
                    points[cell.more["line"]].append((cell.more["size"], float(Fraction(cell.ours))))
            panels.append(Panel(network, tuple(Series(name, tuple(found)) for name, found in points.items())))
        return Plot(tuple(panels), x_label="bytes at each node", y_label="us", x_scale="bytes", y_scale="log")

    def _delay_panels(self, cells: Sequence[Cell]) -> tuple[Panel, ...]:
        panels = []
        for network in self.networks:
            own = [cell for cell in cells if cell.more.get("network") == network]
            series = (
                Series(
                    line.name,
                    tuple((cell.more["part"], float(Fraction(cell.ours or 0))) for cell in own if cell.more["line"] == line.name),
                )
                for line in self.lines
            )
            panels.append(Panel(network, tuple(series)))
        return tuple(panels)

    def smoke(self) -> "_EndpointRuns":
        sizes = tuple(size for size in self.sizes if size <= SMOKE_BYTES) or (SMOKE_BYTES,)
        return replace(self, networks=self.networks[:1], sizes=sizes[:1], sizes_beside=())

    def on(self, networks: Sequence[str]) -> "_EndpointRuns":
        for network in networks:
            parse_topology(network)
        return replace(self, networks=tuple(networks))


def _mean_cell(row: str, values: Sequence[Fraction]) -> Iterator[Cell]:
    """None where there are no values."""
    if values:
        yield Cell(row, MEAN, sum(values, Fraction(0)) / len(values))


def run_line(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """`cycles`, `seconds`, `delays`, `occupancy` (exact numbers as strings) of one run, with null cycles and a reason where it
    cannot be. A wrong result or a stall raises: such a run is no measurement."""
    line, endpoint = Line(**arguments["line"]), load_endpoint(arguments["params"])
    topology, size = parse_topology(arguments["network"]), arguments["size"]
    system = endpoint.system(line.system)
    if line.chunk_bytes is not None:
        system = replace(system, chunk_bytes=line.chunk_bytes, bounds=system.bounds if line.or_shorter else None)
    if line.memory is not None:
        system = replace(system, memory_bytes_per_second=Fraction(line.memory))
    if line.bounded:
        system = endpoint.within_share(system)
    try:
        request = Request(topology, parse_collective(arguments["collective"]), size, load_machine(MACHINE))
        schedule = written_out(load_methods()[line.method](request))
        if line.tables:
            tables = joint_tables(schedule, endpoint, size)
            return _of_tables(run_joint(tables, endpoint, system, chunk=line.chunk_bytes), endpoint, len(topology.endpoints))
        result = run_system(schedule, endpoint, system, [Payload(size)], Choices(ways=line.ways))
    except UnsupportedError as error:
        return {"cycles": None, "reason": str(error)}
    if not result.data_ok or not result.conserved:
        raise RuntimeError(f"{arguments['network']}, {line.name}: wrong {result.wrong}, stall {result.stall}")
    return {
        "cycles": result.cycles,
        "seconds": str(result.seconds),
        "chunks": result.chunks,
        "messages": result.messages,
        "joules": str(result.joules),
        "occupancy": {name: str(value) for name, value in result.occupancy.items()},
        "delays": _delays(result.delays, result.chunks * len(topology.endpoints)),
    }


def _of_tables(run: Run, endpoint: Endpoint, nodes: int) -> dict[str, Any]:
    """The text of `run_line` on a run of tables."""
    if not run.data_ok:
        raise RuntimeError(f"a run of tables: wrong {run.wrong}, deadlock {run.deadlock}")
    assert run.endpoint is not None
    counts = run.endpoint.counts
    return {
        "cycles": run.cycles,
        "seconds": str(run.cycles / endpoint.interface.clock_hertz),
        "engine": str(run.engine),
        "chunks": counts["iterations"],
        "bound_cycles": counts["bound_cycles"],
        "occupancy": {name: str(share) for name, share in run.endpoint.occupancy.items()},
        "delays": _delays(run.endpoint.delays, counts["iterations"] * nodes),
    }


def _delays(found: Mapping[str, Fraction], visits: int) -> dict[str, str]:
    """Delays of a run, as texts; `bus_total`: those of buses, of all chunks at all endpoints together."""
    delays = {name: str(value) for name, value in found.items()}
    return delays | {"bus_total": str(found["bus_congestion"] * visits)} if found else {}


@EXPERIMENTS.register("endpoint-runs")
def endpoint_runs(fields: Fields) -> Experiment:
    """A collective of `sizes` on `networks` by the endpoints of `params`, a curve for each of `lines`; `ratios` between them.

    `sizes_beside` are run too, and are in no mean. show = "time": microseconds. "delays": for one size the cycles of the parts of
    ACE's Fig. 11, and how much less of them.
    A line has `name`, `system`, `method`, and may have `chunk`, `or_shorter` ("yes": also the chunks of the system that it bounds,
    where these are faster), `ways` (parts of the schedule that chunks run in turn, 1 by default), `bounded` ("yes": each collective
    is limited to its share of the memory bandwidth), `memory` (bytes per second of the memory bus, "450e9"), and `tables` ("yes":
    tables run in the one machine of `simulate`, paced)."""
    networks = fields.texts("networks")
    for network in networks:
        parse_topology(network)
    params = fields.text("params")
    systems = [system.name for system in load_endpoint(params).systems]
    experiment = _EndpointRuns(
        params=params,
        collective=parse_collective(fields.text("collective")),
        networks=networks,
        sizes=fields.sizes("sizes"),
        sizes_beside=fields.sizes("sizes_beside", default=[]),
        show=fields.text("show", default="time", known=SHOWN),
        lines=fields.each("lines", lambda entry: _line(entry, systems), least=1, distinct="name"),
        ratios=(),
    )
    names = [line.name for line in experiment.lines]
    if experiment.show == "delays" and len((*experiment.sizes, *experiment.sizes_beside)) > 1:
        fields.refuse('show = "delays" is for one size')
    return replace(experiment, ratios=fields.each("ratios", lambda entry: _ratio(entry, names)))


def _line(fields: Fields, systems: Sequence[str]) -> Line:
    if "memory" in fields:
        fields.exact("memory", ABOVE_ZERO)
    tables = fields.text("tables", default="no", known=("no", "yes")) == "yes"
    if tables and "ways" in fields:
        fields.refuse("ways are parts of schedules for messages; tables have none")
    return Line(
        name=fields.text("name"),
        system=fields.text("system", known=systems),
        chunk_bytes=fields.size("chunk") if "chunk" in fields else None,
        method=fields.text("method", known=load_methods()),
        ways=fields.whole("ways", 1, default=1),
        bounded=fields.text("bounded", default="no", known=("no", "yes")) == "yes",
        memory=fields.figure("memory") if "memory" in fields else None,
        or_shorter=fields.text("or_shorter", default="no", known=("no", "yes")) == "yes",
        tables=tables,
    )


def _ratio(fields: Fields, names: Sequence[str]) -> tuple[str, str]:
    return fields.text("of", known=names), fields.text("over", known=names)
