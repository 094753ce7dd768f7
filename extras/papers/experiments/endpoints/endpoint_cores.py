"""Parts of the time of an all-reduce that the cores of the endpoints run."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from certree.api.parsing import DEFAULT_MACHINE
from certree.extras.costs.model.cost_model import load_parameters
from certree.extras.costs.model.counting import count
from certree.extras.costs.model.formulas.ace import AceEndpoint
from certree.extras.papers.experiment import EXPERIMENTS, Cell, Experiment
from certree.extras.reports.make.figure import Panel, Plot, Series
from certree.extras.workers.task import Task
from certree.models.common.fields import ABOVE_ZERO, Fields
from certree.models.machine.machine import load_machine
from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import parse_collective
from certree.models.schedule.symmetric.symmetric_schedule import written_out
from certree.synth.method import Request, load_methods

SHARE = "share of the peak"
CHANGEABLE = ("core_read_bytes_per_second", "link_bytes_per_second", "step_seconds")


@dataclass(frozen=True)
class Scenario:
    """A row of the figure: its name, and how the parameters differ."""

    name: str
    changes: tuple[tuple[str, Fraction], ...]


@dataclass(frozen=True)
class _EndpointCores(Experiment):
    """Times in microseconds; the share of the peak is the least bytes an endpoint must send over what its links could have sent."""

    network: str
    method: str
    message_bytes: int
    endpoint: AceEndpoint
    cores: tuple[int, ...]
    scenarios: tuple[Scenario, ...]

    def tasks(self) -> list[Task]:
        topology = parse_topology(self.network)
        arguments = {
            "network": self.network,
            "network_digest": topology.digest,  # it may be a file
            "method": self.method,
            "message_bytes": self.message_bytes,
            "endpoints": [
                {key: str(value) for key, value in vars(endpoint).items()} | {"cores": endpoint.cores}
                for _, _, endpoint in self._endpoints()
            ],
        }
        return [Task(f"{self.method} on {self.network}", price_all_reduce, arguments)]

    def _endpoints(self) -> Iterator[tuple[Scenario, int, AceEndpoint]]:
        for scenario in self.scenarios:
            changes: dict[str, Any] = dict(scenario.changes)
            changed = replace(self.endpoint, **changes)
            for cores in self.cores:
                yield scenario, cores, replace(changed, cores=cores)

    def cells(self, results: Sequence[Mapping[str, Any]]) -> list[Cell]:
        rows: dict[tuple[str, str], list[Cell]] = {}
        for (scenario, cores, _), priced in zip(self._endpoints(), results[0]["priced"], strict=True):
            for part, value in priced.items():
                more = {"scenario": scenario.name, "part": part}
                cell = Cell(f"{scenario.name}: {part}", str(cores), Fraction(value), more=more)
                rows.setdefault((scenario.name, part), []).append(cell)
        return [cell for row in rows.values() for cell in row]

    def plot(self, cells: Sequence[Cell]) -> Plot:
        panels = []
        for scenario in self.scenarios:
            lines: dict[str, list[tuple[float | str, float]]] = {}
            for cell in cells:
                if cell.more["scenario"] == scenario.name and cell.more["part"] != SHARE:
                    lines.setdefault(cell.more["part"], []).append((float(cell.column), float(Fraction(cell.ours or 0))))
            panels.append(Panel(scenario.name, tuple(Series(part, tuple(points)) for part, points in lines.items())))
        return Plot(tuple(panels), x_label="cores", y_label="us")

    def smoke(self) -> "_EndpointCores":
        return replace(self, cores=(self.cores[0], self.cores[-1]))


def price_all_reduce(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """`priced`: for each of `endpoints` the microseconds of each part, and the share of the peak; exact numbers as strings."""
    topology, size = parse_topology(arguments["network"]), arguments["message_bytes"]
    request = Request(topology, parse_collective("all-reduce"), size, load_machine(DEFAULT_MACHINE))
    counts = count(written_out(load_methods()[arguments["method"]](request)))
    nodes = len(topology.endpoints)
    least_bytes = Fraction(2 * (nodes - 1), nodes) * size
    width = Fraction(int(topology.capacity[np.isin(topology.src, topology.endpoints)].sum()), nodes)
    priced = []
    for document in arguments["endpoints"]:
        exact: dict[str, Any] = {name: Fraction(value) for name, value in document.items() if name not in ("name", "cores")}
        endpoint = AceEndpoint(name=document["name"], cores=document["cores"], **exact)
        cost = endpoint.cost(counts, size)
        parts = {term.symbol: 10**6 * term.seconds for term in cost.terms}
        parts[SHARE] = least_bytes / (width * endpoint.link_bytes_per_second * cost.seconds)
        priced.append({part: str(value) for part, value in parts.items()})
    return {"priced": priced}


@EXPERIMENTS.register("endpoint-cores")
def endpoint_cores(fields: Fields) -> Experiment:
    """Loads, links and latency of an all-reduce by a number of `cores` of each endpoint, by the cost model of ACE's Fig. 5.

    `method` on `network` with a message of `size`; `params` are the parameters of the model, which each of `scenarios` changes.
    """
    network, method = fields.text("network"), fields.text("method", known=load_methods())
    parse_topology(network)
    endpoint = load_parameters(fields.text("params"))
    if not isinstance(endpoint, AceEndpoint):
        fields.refuse("params are of another model; expected certree-ace")
    cores, scenarios = fields.wholes("cores", 1), fields.each("scenarios", _scenario)
    return _EndpointCores(network, method, fields.size("size"), endpoint, cores, scenarios)


def _scenario(fields: Fields) -> Scenario:
    name = fields.text("name")
    changes = tuple((parameter, fields.exact(parameter, ABOVE_ZERO)) for parameter in CHANGEABLE if parameter in fields)
    return Scenario(name, changes)
