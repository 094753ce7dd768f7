"""The specification of a comparison: networks, collectives, sizes, and what else is varied; from a TOML file or from arguments."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from certree.api import parsing
from certree.extras.designs.model.network_costs import NetworkCosts, load_network_costs
from certree.extras.sweeps.run.faults import SEEDS
from certree.extras.sweeps.run.specification import CHEAP, NO_RUN, SEARCHED, read_time_limit
from certree.hw.engines.runs import MODES
from certree.models.common.errors import located
from certree.models.common.fields import ABOVE_ZERO, Fields
from certree.models.common.files import read_bytes
from certree.models.common.presets import parse_toml
from certree.models.network.spec import parse_topology
from certree.models.network.topology import Topology

AUTO, ENDPOINTS, COST = "auto", "endpoints", "cost"
GRID_TIMES = "grid"  # as the method of training: times of the grid, interpolated
SLOTTED = "slotted"  # how cells are simulated, unless asked otherwise
DRAWS, MOST_DRAWS = 20, SEEDS
DEFAULT_COSTS = "assumed-200g"


@dataclass(frozen=True)
class Failures:
    """Numbers of dead links, how often each is drawn, and the method, size and run of these cells."""

    links: tuple[int, ...] = ()
    draws: int = DRAWS
    method: str = AUTO
    size: int = 0
    run: str = SLOTTED


@dataclass(frozen=True)
class Sensitivity:
    """Factors of the rates of all links, and of all latencies, each by itself; and the method, size and run of these cells."""

    rates: tuple[Fraction, ...] = ()
    latencies: tuple[Fraction, ...] = ()
    method: str = AUTO
    size: int = 0
    run: str = SLOTTED


@dataclass(frozen=True)
class Training:
    """Workloads as `train` takes them, and the method of their collectives; GRID_TIMES: the exact times of the grid's all-reduces,
    with straight lines between sizes."""

    workloads: tuple[str, ...] = ()
    method: str = GRID_TIMES


@dataclass(frozen=True)
class Designs:
    """Everything that is asked. `equal`: networks are compared as they are, and have equally many endpoints, or for the same
    money. `document`: as the file has it."""

    title: str
    networks: Mapping[str, Topology]
    collectives: tuple[str, ...]
    sizes: tuple[int, ...]
    method: str
    machine: str
    effort: int
    seed: int
    bounds: str
    time_limit: Fraction | None  # of a cell, in seconds
    failures: Failures
    sensitivity: Sensitivity
    training: Training
    costs: tuple[NetworkCosts, ...]
    equal: str
    document: Mapping[str, Any]

    def view_path(self, name: str) -> Path:
        """The path of the page on a network in a folder, by its place among the networks: names may hold any letter."""
        return Path("views", f"{1 + list(self.networks).index(name)}.html")


def read_designs(source: str | Path | Mapping[str, Any]) -> Designs:
    """The specification in a TOML file, or in a dictionary with the same fields. InputError, in one line, for what is malformed or
    unknown, and for networks of different sizes where equal endpoints are asked."""
    where = "the specification" if isinstance(source, Mapping) else str(source)
    document = source if isinstance(source, Mapping) else parse_toml(read_bytes(Path(source)), where)
    fields = Fields(document, where, quotes_optional=True)
    sizes = fields.sizes("sizes")
    method = fields.text("method", default=AUTO)
    names = fields.texts("networks")
    if twice := [name for name in names if names.count(name) > 1]:
        fields.refuse(f"networks: {twice[0]} is listed twice")
    with located(f"{where}: networks"):
        networks = {name: parse_topology(name) for name in names}
    models = fields.text_or_texts("costs") if "costs" in fields else (DEFAULT_COSTS,)
    with located(f"{where}: costs"):
        costs = tuple(load_network_costs(name) for name in dict.fromkeys(models))
    if len({model.name for model in costs}) < len(costs):
        fields.refuse(f"costs {', '.join(models)}: two of them have the same name; give each its own")
    found = Designs(
        title=fields.text("title", default="Designs"),
        networks=networks,
        collectives=fields.texts("collectives", default=["all-reduce"]),
        sizes=sizes,
        method=method,
        machine=fields.text("machine", default="default"),
        effort=fields.whole("effort", 1, default=1),
        seed=fields.whole("seed", default=0),
        bounds=fields.text("bounds", default=SEARCHED, known=(SEARCHED, CHEAP)),
        time_limit=read_time_limit(fields),
        failures=_failures(fields.table_of("failures", {}), method, max(sizes)),
        sensitivity=_sensitivity(fields.table_of("sensitivity", {}), method, max(sizes)),
        training=_training(fields.table_of("training", {})),
        costs=costs,
        equal=fields.text("equal", default=ENDPOINTS, known=(ENDPOINTS, COST)),
        document=document,
    )
    fields.done()
    has_curve = "all-reduce" in found.collectives and len(set(sizes)) > 1
    if found.training.workloads and found.training.method == GRID_TIMES and not has_curve:
        fields.refuse("training takes its times from all-reduces of two sizes or more: add a size, or name a method in [training]")
    _require_equal(found, fields)
    return found


def _failures(fields: Fields, method: str, size: int) -> Failures:
    found = Failures(
        fields.wholes("links", 1) if "links" in fields else (),
        fields.whole("draws", 1, MOST_DRAWS, default=DRAWS),
        fields.text("method", default=method),
        _size(fields, size),
        _run(fields),
    )
    fields.done()
    return found


def _sensitivity(fields: Fields, method: str, size: int) -> Sensitivity:
    rates, latencies = (fields.exacts(name, ABOVE_ZERO) if name in fields else () for name in ("rates", "latencies"))
    for name, values in (("rates", rates), ("latencies", latencies)):
        if any(not Fraction(1, 1000) <= value <= 1000 for value in values):
            fields.refuse(f"{name}: allowed are factors from 1/1000 to 1000")
    found = Sensitivity(rates, latencies, fields.text("method", default=method), _size(fields, size), _run(fields))
    fields.done()
    return found


def _training(fields: Fields) -> Training:
    found = Training(fields.texts("workloads") if "workloads" in fields else (), fields.text("method", default=GRID_TIMES))
    fields.done()
    if twice := [name for name in found.workloads if found.workloads.count(name) > 1]:
        fields.refuse(f"workloads: {twice[0]} is listed twice")
    return found


def _run(fields: Fields) -> str:
    return fields.text("run", default=SLOTTED, known=(*MODES, NO_RUN))


def _size(fields: Fields, default: int) -> int:
    return parsing.size(fields.raw("size")) if "size" in fields else default


def _require_equal(found: Designs, fields: Fields) -> None:
    """Refuse networks of different sizes where they are compared by endpoints."""
    counts = {name: len(topology.endpoints) for name, topology in found.networks.items()}
    if found.equal == ENDPOINTS and len(set(counts.values())) > 1:
        words = ", ".join(f"{name} has {count}" for name, count in counts.items())
        fields.refuse(
            f"equal is {ENDPOINTS}, and the networks differ: {words} endpoints; equal = {COST!r} compares them for the same cost"
        )
