"""The fields of a target of training: its lines, ratios, aggregates and groups of layers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from certree.extras.endpoints.model.endpoint import load_endpoint
from certree.extras.endpoints.run.endpoint_runs import PROGRAMS
from certree.extras.training.run.settings import Timing, parse_methods
from certree.models.common.fields import ABOVE_ZERO, Fields
from certree.models.machine.machine import load_machine
from certree.models.network.spec import parse_topology
from certree.models.schedule.timing import FRAMINGS

NON_OVERLAP, OVERLAP, COMMUNICATION = "non-overlap", "overlap", "communication"
MODES = (NON_OVERLAP, OVERLAP)
MESSAGES = "messages"  # the program of endpoints unless a line says "tables"
TAKES: dict[str, Callable[[Sequence[Fraction]], Fraction]] = {
    "most": max, "least": min, "mean": lambda values: sum(values, Fraction(0)) / len(values),
}  # fmt: skip


@dataclass(frozen=True)
class Line:
    """A way to train. `networks`, if any, stand in the place of the target's, one for each; `groups` have a network for each; and
    {setting} in a method stands for one of the `settings`. `program`: what runs on endpoints, messages or tables. `measured`:
    (bytes, seconds as a text) of all-reduces."""

    name: str
    methods: tuple[str, ...]
    timing: str
    flow: str
    system: str
    program: str
    networks: tuple[str, ...]
    machine: str
    sensitivity: bool
    groups: tuple[tuple[str, tuple[str, ...]], ...]
    settings: tuple[str, ...]
    measured: tuple[tuple[int, str], ...]

    def at(self, place: int) -> dict[str, Any]:
        """The arguments of a run on one of the networks."""
        methods = [text.replace("{setting}", self.settings[place]) if self.settings else text for text in self.methods]
        known = {"timing": self.timing, "flow": self.flow, "system": self.system, "measured": list(map(list, self.measured))}
        own = {} if self.program == MESSAGES else {"program": self.program}  # results of other lines keep their names
        return {"methods": methods, **known, **own}


@dataclass(frozen=True)
class Ratio:
    """The speed-up of line `of` over line `over` in a mode, or of the network's time alone."""

    of: str
    over: str
    modes: tuple[str, ...]


@dataclass(frozen=True)
class Aggregate:
    """A column that takes one value of those of the columns that a pattern matches."""

    name: str
    columns: tuple[str, ...]
    take: str


@dataclass(frozen=True)
class Layers:
    """Consecutive layers, counted from 1, whose collectives are waited for."""

    name: str
    first: int
    last: int

    def waits(self, facts: Mapping[str, Any]) -> Fraction:
        """Seconds of an iteration."""
        return sum(map(Fraction, facts["waits"][self.first - 1 : self.last]), Fraction(0))


def read_line(fields: Fields, machine: str, count: int) -> Line:
    """A line of the target."""
    methods, groups = fields.text_or_texts("method") if "method" in fields else (), fields.table_of("groups", {})
    line = Line(
        name=fields.text("name"),
        methods=methods,
        timing=fields.text("timing", default="paced", known=Timing),
        flow=fields.text("flow", default="message", known=FRAMINGS),
        system=load_endpoint("ace").system(fields.text("system", default="ace")).name,
        program=fields.text("program", default=MESSAGES, known=PROGRAMS[1:]),
        networks=fields.texts("networks", default=[]),
        machine=fields.text("machine", default=machine),
        sensitivity=fields.choice("sensitivity", (True, False), default=True),
        groups=tuple((name, groups.texts(name)) for name in groups.table),
        settings=fields.texts("settings", default=[]),
        measured=_measured(fields),
    )
    load_machine(line.machine)
    for what, given in (("networks", line.networks), ("settings", line.settings), *line.groups):
        if given and len(given) != count:
            fields.refuse(f"{what} has {len(given)} entries; the target has {count} networks")
    for network in (*line.networks, *(network for _, networks in line.groups for network in networks)):
        parse_topology(network)
    for place in range(count):
        parse_methods(line.at(place)["methods"])
    return line


def _measured(fields: Fields) -> tuple[tuple[int, str], ...]:
    """(bytes, seconds) by size."""
    points = fields.each("measured", lambda entry: (entry.size("size"), str(entry.exact("seconds", ABOVE_ZERO))))
    if len({size for size, _ in points}) < len(points):
        fields.refuse("measured has a size twice")
    return tuple(sorted(points))


def read_layers(fields: Fields, count: int) -> Layers:
    """A group of layers, of workloads that have `count` of them or more."""
    first = fields.whole("first", 1, count)
    return Layers(fields.text("name"), first, fields.whole("last", first, count))


def read_ratio(fields: Fields, lines: list[str], modes: tuple[str, ...]) -> Ratio:
    """A ratio between two of the lines."""
    chosen = fields.texts("modes", default=list(modes), known=(*modes, COMMUNICATION))
    return Ratio(fields.text("of", known=lines), fields.text("over", known=lines), chosen)


def read_aggregate(fields: Fields) -> Aggregate:
    """A column of several others."""
    return Aggregate(fields.text("name"), fields.text_or_texts("columns"), fields.text("take", known=TAKES))
