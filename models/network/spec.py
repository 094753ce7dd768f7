"""Parser of network specifications: `torus:8x8,without-link=3-4,capacity=2`, or a file with the same modifiers."""

import dataclasses
import re
from collections.abc import Callable, Iterable
from fractions import Fraction
from pathlib import Path

import numpy as np

from certree.models.common.errors import TopologyError, suggestion
from certree.models.common.files import Opened
from certree.models.common.registry import Registry
from certree.models.network.capacities import ALLOWED, capacity_of, in_units
from certree.models.network.families import load_families
from certree.models.network.network_files import Given, NetworkFormat, format_of, network_suffixes, unknown_file
from certree.models.network.rates import Rates
from certree.models.network.topology import MAX_CAPACITY, MAX_EXACT, NodeKind, Topology

Columns = dict[str, np.ndarray]
MODIFIERS: Registry[Callable[[Topology, Columns, str], None]] = Registry("topology modifier")


def parse_topology(token: str | Opened) -> Topology:
    """The topology that a token names, or that is in a file; TopologyError (exit code 2) says what is wrong and what is allowed."""
    spec = str(token)
    head, *modifiers = spec.split(",")
    file = token if isinstance(token, Opened) and not modifiers else Opened(Path(head))
    kind = None if head.partition(":")[0] in load_families() else format_of(file)
    if kind is not None and kind.options:
        base = dataclasses.replace(kind.read(file, _options(modifiers, kind)), name=spec)
        modifiers = [modifier for modifier in modifiers if modifier.partition("=")[0] not in kind.options]
    else:
        base = _family(head) if kind is None else kind.read(file, ())
    return modified(base, spec, modifiers) if modifiers else base


def modified(base: Topology, spec: str, modifiers: Iterable[str]) -> Topology:
    """The network `spec`, which is `base` with modifiers, each NAME=VALUE; errors as `parse_topology`."""
    columns: Columns = {name: getattr(base, name).copy() for name in ("kind", "src", "dst", "capacity", "latency", "reducing")}
    columns["capacity"] = _speeds(base.exact)
    for modifier in modifiers:
        key, equals, value = modifier.partition("=")
        if not equals:
            raise TopologyError(f"{spec}: modifier {modifier!r} is not of the form name=value; known: {', '.join(MODIFIERS)}")
        MODIFIERS[key](base, columns, value)
    most = MAX_CAPACITY if base.rates is None else MAX_EXACT
    capacity, scale = in_units(columns.pop("capacity").tolist(), spec, most)
    rates = None if base.rates is None else Rates(np.array(capacity, np.int64), scale)
    changed = dataclasses.replace(base, name=spec, capacity=np.array(capacity, np.int32), scale=scale, rates=rates, **columns)  # type: ignore[arg-type]
    return changed if rates is None else changed.in_units_of(1 / Fraction(base.scale))


def _speeds(topology: Topology) -> np.ndarray:
    """The capacity of every link as a Fraction of a full one; modifiers change it, and `in_units` makes it whole."""
    found = {units: topology.speed(units) for units in np.unique(topology.capacity).tolist()}
    speeds = np.empty(len(topology.capacity), object)
    speeds[:] = [found[units] for units in topology.capacity.tolist()]
    return speeds


def _options(modifiers: list[str], kind: NetworkFormat) -> Given:
    """(name, value) of those modifiers that are options of a kind of file."""
    parts = [modifier.partition("=") for modifier in modifiers]
    return [(name, value) for name, _, value in parts if name in kind.options]


def undamaged(topology: Topology) -> Topology | None:
    """The network before `without-` modifiers removed nodes and links; None when its name has no such modifier."""
    parts = topology.name.split(",")
    kept = [part for part in parts if not part.startswith("without-")]
    return parse_topology(",".join(kept)) if len(kept) < len(parts) else None


def _family(head: str) -> Topology:
    family, _, arguments = head.partition(":")
    families = load_families()
    if family in families:
        return families[family](arguments)
    if Path(head).is_file():
        raise TopologyError(unknown_file(Path(head)))
    allowed = ", ".join(line.split(" - ")[0] for _, line in families.describe())
    raise TopologyError(
        f"unknown topology {head!r}{_suggestion(head, families)} allowed: {allowed},"
        f" or a file ending in {', '.join(network_suffixes())}"
    )


def _suggestion(head: str, families: Iterable[str]) -> str:
    """The family that was probably meant, with the sizes that follow a forgotten colon."""
    joined = re.fullmatch(r"([a-z-]+?)[-_ ]?([0-9][0-9a-z]*)", head)
    if joined is not None and joined[1] in families:
        return f"; did you mean '{joined[1]}:{joined[2]}'?"
    return suggestion(head.partition(":")[0], families)


def _keep(columns: Columns, keep: np.ndarray) -> None:
    for name in ("src", "dst", "capacity", "latency"):
        columns[name] = columns[name][keep]


@MODIFIERS.register("without-link")
def without_link(topology: Topology, columns: Columns, value: str) -> None:
    """without-link=A-B removes all parallel links in both directions, A>B one direction."""
    _keep(columns, ~links_named(topology, columns, "without-link", value, value))


def links_named(topology: Topology, columns: Columns, modifier: str, value: str, ends: str) -> np.ndarray:
    """Flags of the links that `ends`, A-B or A>B, names; TopologyError for another form, or without such links."""
    match = re.fullmatch(r"([0-9]{1,9})([->])([0-9]{1,9})", ends)
    if match is None:
        form = "A-B (both directions) or A>B" + (" and a capacity, such as 3-4:1/2" if modifier == "link-capacity" else "")
        raise TopologyError(f"{topology.name}: {modifier}={value!r}: expected {form}")
    a, b = int(match[1]), int(match[3])
    found = (columns["src"] == a) & (columns["dst"] == b)
    if match[2] == "-":
        found |= (columns["src"] == b) & (columns["dst"] == a)
    if not found.any():
        raise TopologyError(f"{topology.name}: {modifier}={value}: there is no such link")
    return np.asarray(found)


@MODIFIERS.register("without-node")
def without_node(topology: Topology, columns: Columns, value: str) -> None:
    """without-node=A removes a node and its links; the other nodes keep their ids."""
    if not re.fullmatch(r"[0-9]{1,9}", value):
        raise TopologyError(f"{topology.name}: without-node={value!r}: expected a node id")
    node = int(value)
    if node >= len(columns["kind"]) or columns["kind"][node] == NodeKind.ABSENT:
        raise TopologyError(f"{topology.name}: without-node={value}: there is no such node")
    columns["kind"][node] = NodeKind.ABSENT
    columns["reducing"][node] = False
    _keep(columns, (columns["src"] != node) & (columns["dst"] != node))


@MODIFIERS.register("only")
def only(topology: Topology, columns: Columns, value: str) -> None:
    """only=A-B+C keeps these endpoints and removes the others with their links; nodes keep their ids."""
    parts = [re.fullmatch(r"([0-9]{1,7})(?:-([0-9]{1,7}))?", part) for part in value.split("+")]
    ends = [(int(part[1]), int(part[2] or part[1])) for part in parts if part is not None]
    if len(ends) < len(parts):
        raise TopologyError(f"{topology.name}: only={value!r}: expected ids and ranges of ids of endpoints, such as 0-3+8")
    is_endpoint = columns["kind"] == NodeKind.ENDPOINT
    kept = np.zeros(len(is_endpoint), np.bool_)
    for first, last in ends:
        if not (first <= last < len(kept) and is_endpoint[first : last + 1].all()):
            raise TopologyError(f"{topology.name}: only={value}: {first}-{last} are not all endpoints")
        kept[first : last + 1] = True
    lost = is_endpoint & ~kept
    columns["kind"][lost] = NodeKind.ABSENT
    _keep(columns, ~(lost[columns["src"]] | lost[columns["dst"]]))


@MODIFIERS.register("capacity")
def capacity(topology: Topology, columns: Columns, value: str) -> None:
    """capacity=C gives every link C times the capacity of a full link; C may be a part, such as 1/2."""
    columns["capacity"][:] = _capacity(topology, f"capacity={value!r}", value)


@MODIFIERS.register("link-capacity")
def link_capacity(topology: Topology, columns: Columns, value: str) -> None:
    """link-capacity=A-B:C gives all parallel links in both directions the capacity C, A>B:C one direction; C may be 1/2."""
    ends, colon, text = value.partition(":")
    changed = links_named(topology, columns, "link-capacity", value, ends if colon else "")
    columns["capacity"][changed] = _capacity(topology, f"link-capacity={value!r}", text)


def _capacity(topology: Topology, where: str, text: str) -> Fraction:
    found = capacity_of(text)
    if found is None:
        raise TopologyError(f"{topology.name}: {where}: expected {ALLOWED}")
    return found


@MODIFIERS.register("reducing")
def reducing(topology: Topology, columns: Columns, value: str) -> None:
    """reducing=switches lets every switch add and multicast, reducing=A only that one (in-network reduction)."""
    if value == "switches":
        marked = np.flatnonzero(columns["kind"] == NodeKind.SWITCH)
        if not len(marked):
            raise TopologyError(f"{topology.name}: reducing=switches: there are no switches")
    elif re.fullmatch(r"[0-9]{1,9}", value) and int(value) < len(columns["kind"]):
        marked = np.array([int(value)])
        if columns["kind"][marked[0]] != NodeKind.SWITCH:
            raise TopologyError(f"{topology.name}: reducing={value}: node {value} is not a switch")
    else:
        raise TopologyError(f"{topology.name}: reducing={value!r}: expected the id of a switch, or switches")
    columns["reducing"][marked] = True
