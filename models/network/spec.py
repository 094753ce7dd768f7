"""One token names a network: `torus:8x8,without-link=3-4,capacity=2` or a file, with the same modifiers."""

import dataclasses
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np

from certree.models.common.errors import TopologyError
from certree.models.common.registry import Registry
from certree.models.network.families import load_families
from certree.models.network.imports import import_topology, imported_unit, suffixes
from certree.models.network.imports.box import OPTION_HELP
from certree.models.network.topology import MAX_CAPACITY, NodeKind, Topology
from certree.models.network.topology_file import FILE_SUFFIXES, load_topology

Columns = dict[str, np.ndarray]
MODIFIERS: Registry[Callable[[Topology, Columns, str], None]] = Registry("topology modifier")


def parse_topology(spec: str) -> Topology:
    """The topology that a token names; TopologyError (exit code 2) says what is wrong and what is allowed."""
    head, *modifiers = spec.split(",")
    if head.lower().endswith(suffixes()):
        base = dataclasses.replace(import_topology(Path(head), _import_options(modifiers)), name=spec)
        modifiers = [modifier for modifier in modifiers if modifier.partition("=")[0] not in OPTION_HELP]
    else:
        base = _base(head)
    if not modifiers:
        return base
    columns: Columns = {name: getattr(base, name).copy() for name in ("kind", "src", "dst", "capacity", "latency", "reducing")}
    for modifier in modifiers:
        key, equals, value = modifier.partition("=")
        if not equals:
            raise TopologyError(f"{spec}: modifier {modifier!r} is not of the form name=value; known: {', '.join(MODIFIERS)}")
        MODIFIERS[key](base, columns, value)
    return dataclasses.replace(base, name=spec, **columns)  # type: ignore[arg-type]


def _import_options(modifiers: list[str]) -> list[tuple[str, str]]:
    """(name, value) of those modifiers that are options of an imported file."""
    parts = [modifier.partition("=") for modifier in modifiers]
    return [(name, value) for name, _, value in parts if name in OPTION_HELP]


def unit_bandwidth(spec: str) -> Fraction | None:
    """Bytes a second of a link of capacity 1, for a token that names an imported file; None for any other."""
    head, *modifiers = spec.split(",")
    return imported_unit(Path(head), _import_options(modifiers)) if head.lower().endswith(suffixes()) else None


def undamaged(topology: Topology) -> Topology | None:
    """The network before `without-` modifiers took nodes and links away; None when its name has none."""
    parts = topology.name.split(",")
    kept = [part for part in parts if not part.startswith("without-")]
    return parse_topology(",".join(kept)) if len(kept) < len(parts) else None


def _base(head: str) -> Topology:
    family, _, arguments = head.partition(":")
    families = load_families()
    if family in families:
        return families[family](arguments)
    if head.lower().endswith(FILE_SUFFIXES):
        return load_topology(Path(head))
    allowed = ", ".join(line.split(" - ")[0] for _, line in families.describe())
    raise TopologyError(
        f"unknown topology {head!r}; allowed: {allowed}, or a file ending in {', '.join(FILE_SUFFIXES + suffixes())}"
    )


def _keep(columns: Columns, keep: np.ndarray) -> None:
    for name in ("src", "dst", "capacity", "latency"):
        columns[name] = columns[name][keep]


@MODIFIERS.register("without-link")
def without_link(topology: Topology, columns: Columns, value: str) -> None:
    """without-link=A-B removes all parallel links in both directions, A>B one direction."""
    match = re.fullmatch(r"([0-9]{1,9})([->])([0-9]{1,9})", value)
    if match is None:
        raise TopologyError(f"{topology.name}: without-link={value!r}: expected A-B (both directions) or A>B")
    a, b = int(match[1]), int(match[3])
    gone = (columns["src"] == a) & (columns["dst"] == b)
    if match[2] == "-":
        gone |= (columns["src"] == b) & (columns["dst"] == a)
    if not gone.any():
        raise TopologyError(f"{topology.name}: without-link={value}: there is no such link")
    _keep(columns, ~gone)


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


@MODIFIERS.register("capacity")
def capacity(topology: Topology, columns: Columns, value: str) -> None:
    """capacity=C gives every link C units (chunks a round)."""
    if not re.fullmatch(r"[0-9]{1,9}", value) or not 1 <= int(value) <= MAX_CAPACITY:
        raise TopologyError(f"{topology.name}: capacity={value!r}: expected a whole number from 1 to {MAX_CAPACITY}")
    columns["capacity"][:] = int(value)


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
