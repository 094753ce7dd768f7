"""The specification of a sweep: a TOML file with the values of every axis."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from fractions import Fraction
from importlib import resources
from pathlib import Path
from typing import Any

from certree.api.parsing import Entry, parse_entry
from certree.api.runs.simulation import NO_ENDPOINT
from certree.extras.sweeps.run.endpoint_axes import EndpointAxes, endpoint_axes
from certree.extras.sweeps.run.wanted import Wanted, parse_wanted
from certree.hw.engines.runs import MODES
from certree.models.common.errors import InputError, located, short
from certree.models.common.fields import Fields
from certree.models.common.files import read_bytes
from certree.models.common.presets import parse_toml
from certree.models.common.quantities import parse_duration
from certree.models.machine.machine import Machine, load_machine
from certree.models.network.spec import parse_topology
from certree.models.network.topology import Topology

DEFAULT_MACHINE, NO_RUN = "default", "none"
SEARCHED, CHEAP = "searched", "cheap"
AXES = ("network", "collective", "size", "method", "machine", "seed", "failures", "run", "endpoint", "sram", "state_machines")


@dataclass(frozen=True)
class Failures:
    """Links and nodes that fail."""

    links: int = 0
    nodes: int = 0

    def __str__(self) -> str:
        parts = [f"{count} {what}{'s' * (count > 1)}" for count, what in ((self.links, "link"), (self.nodes, "node")) if count]
        return " + ".join(parts) or "0"


@dataclass(frozen=True)
class Specification:
    """The values of every axis, by the texts that name them, and what holds for all cells. `document`: as the file has it.
    `workloads`: the text of each list of collectives that run at once."""

    title: str
    networks: Mapping[str, Topology]
    collectives: Mapping[str, Wanted]
    workloads: Mapping[str, str]
    sizes: tuple[int, ...]
    methods: Mapping[str, Entry]
    machines: Mapping[str, Machine | None]
    seeds: tuple[int, ...]
    failures: tuple[Failures, ...]
    draws: int
    runs: tuple[str, ...]
    effort: int
    bounds: str
    routers: bool
    endpoints: EndpointAxes
    time_limit: Fraction | None
    skip: tuple[Mapping[str, str], ...]
    document: Mapping[str, Any]

    def skips(self, values: Mapping[str, str]) -> bool:
        """Whether a combination, given by the name of the value on each axis, is left out."""
        return any(all(fnmatchcase(values[axis], pattern) for axis, pattern in entry.items()) for entry in self.skip)


def sweep_example() -> str:
    """A complete specification of a sweep with comments.

    Returns
    -------
    str
        TOML.

    Examples
    --------
    >>> import certree.api as ct
    >>> ct.sweep_example().splitlines()[3]
    'networks = ["ring:8", "torus:4x4", "mesh:4x4"]       # families with modifiers, or files'
    """
    return (resources.files("certree.extras.sweeps.run") / "example.toml").read_text(encoding="utf-8")


def read_specification(source: str | Path | Mapping[str, Any]) -> Specification:
    """The specification in a TOML file, or with the fields of one; InputError names the field and what is allowed."""
    where = "the specification" if isinstance(source, Mapping) else str(source)
    document = source if isinstance(source, Mapping) else parse_toml(read_bytes(Path(source)), where)
    fields = Fields(document, where, quotes_optional=True)
    title, networks = fields.text("title", default="Sweep"), _named(fields, "networks", parse_topology)
    workloads = _named(fields, "workloads", _text, [])
    collectives = _named(fields, "collectives", parse_wanted, [] if workloads else ["all-reduce"])
    are_sized = all(wanted.demand is not None for wanted in collectives.values())
    specification = Specification(
        title=title,
        networks=networks,
        collectives=collectives,
        workloads=workloads,
        sizes=_distinct(fields, "sizes", fields.sizes("sizes") if "sizes" in fields or not are_sized else ()),
        methods=_named(fields, "methods", parse_entry, ["auto"]),
        machines=_named(fields, "machines", _machine, [DEFAULT_MACHINE]),
        seeds=_distinct(fields, "seeds", fields.wholes("seeds")) if "seeds" in fields else (0,),
        failures=_distinct(fields, "failures", _failures(fields)),
        draws=fields.whole("draws", 1, default=1),
        runs=_distinct(fields, "runs", fields.texts("runs", default=["slotted"], known=(*MODES, NO_RUN))),
        effort=fields.whole("effort", 1, default=1),
        bounds=fields.text("bounds", default=SEARCHED, known=(SEARCHED, CHEAP)),
        routers=fields.choice("routers", (True, False), default=True),
        endpoints=_endpoints(fields),
        time_limit=read_time_limit(fields),
        skip=fields.each("skip", _patterns),
        document=document,
    )
    fields.done()
    return specification


def _named(fields: Fields, name: str, read: Callable[[str], Any], default: list[str] | None = None) -> dict[str, Any]:
    """The values that the texts of an axis name."""
    texts = fields.texts(name) if default is None or name in fields else tuple(default)
    with located(f"{fields.where}: {name}"):
        return {text: read(text) for text in _distinct(fields, name, texts)}


def _distinct(fields: Fields, name: str, values: tuple[Any, ...]) -> tuple[Any, ...]:
    for index, value in enumerate(values):
        if value in values[:index]:
            fields.refuse(f"{name}: {value} is listed twice")
    return values


def _endpoints(fields: Fields) -> EndpointAxes:
    sizes = _distinct(fields, "sram", fields.sizes("sram")) if "sram" in fields else ()
    machines = _distinct(fields, "state_machines", fields.wholes("state_machines", 1)) if "state_machines" in fields else ()
    axes = endpoint_axes(fields, sizes, machines)
    _distinct(fields, "endpoints", fields.texts("endpoints", default=[NO_ENDPOINT]))
    if axes.document is not None and NO_RUN in fields.texts("runs", default=["slotted"]):
        fields.refuse(f"runs has {NO_RUN}, and endpoints are simulated: take either out")
    return axes


def _text(path: str) -> str:
    try:
        return read_bytes(Path(path)).decode()
    except UnicodeDecodeError:
        raise InputError(f"{path} is not a text") from None


def _machine(text: str) -> Machine | None:
    return None if text == DEFAULT_MACHINE else load_machine(text)


def _failures(fields: Fields) -> tuple[Failures, ...]:
    found = []
    for value in fields.entries("failures") if "failures" in fields else [0]:
        if isinstance(value, Mapping):
            table = fields.inner(value, "failures").only(optional=("links", "nodes"))
            found.append(Failures(table.whole("links", default=0), table.whole("nodes", default=0)))
        elif type(value) is int and value >= 0:
            found.append(Failures(value))
        else:
            fields.refuse(f"failures has {short(value)}; expected whole numbers of links, or {{ links = 1, nodes = 1 }}")
    return tuple(found)


def read_time_limit(fields: Fields) -> Fraction | None:
    """The field `time_limit` in seconds, None where it is missing."""
    if "time_limit" not in fields:
        return None
    with located(f"{fields.where}: time_limit"):
        return parse_duration(fields.figure("time_limit"))


def _patterns(entry: Fields) -> dict[str, str]:
    found = {axis: entry.figure(axis) for axis in AXES if axis in entry}
    if not found and not entry.table:
        entry.refuse(f"no pattern; known: {', '.join(AXES)}")
    return found
