"""Boxes of GPUs and what joins their network interfaces."""

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from certree.models.common.errors import TopologyError
from certree.models.network.families import load_families
from certree.models.network.families.cabled.cables import Cables
from certree.models.network.topology import Topology

MAX_BOXES = 4096
FABRICS = (
    "rails (a switch for the GPUs of each place), switch, leafB (a leaf switch for B boxes), leafB/R (uplinks R times too few)"
)


@dataclass(frozen=True)
class Box:
    """Cables inside a box as (node, node, units): nodes are the GPUs, then the switches of the box. `interface`: units of the
    network interface of each GPU; `unit`: bytes per second of one unit in each direction."""

    gpus: int
    switches: int
    cables: tuple[tuple[int, int, int], ...]
    interface: int
    unit: int


@dataclass(frozen=True)
class Boxes:
    """The boxes that a name of a network states: their `family`, how many, and the name without modifiers."""

    family: str
    count: int
    head: str

    @classmethod
    def named(cls, name: str) -> "Boxes | None":
        """The boxes of a name such as `h100:4@switch,without-link=0-8`; None where its family has no `[:B[@FABRIC]]`."""
        head = name.split(",", maxsplit=1)[0]
        family, _, arguments = head.partition(":")
        families = load_families()
        if family not in families or not families.explain(family).startswith(f"{family}[:B[@FABRIC]]"):
            return None
        return cls(family, int(arguments.partition("@")[0] or 1), head)


def boxes_of(family: str, arguments: str, box: Box) -> Topology:
    """The network that `arguments`, such as "16", "16@switch" or "16@leaf4/2", name; TopologyError says what is allowed.

    GPU g of box b is node b·gpus + g; the switches of the boxes follow, box by box, then those of the fabric. A network of one box
    has no interfaces. O(boxes · cables).
    """
    name = f"{family}:{arguments}" if arguments else family
    number, at, fabric = (arguments or "1").partition("@")
    if not re.fullmatch("[0-9]{1,5}", number) or not 1 <= int(number) <= MAX_BOXES:
        raise TopologyError(f"{name}: {number!r} boxes; allowed: whole numbers from 1 to {MAX_BOXES}")
    boxes, gpus = int(number), box.gpus
    if at and boxes == 1:
        raise TopologyError(f"{name}: a fabric joins boxes; one box needs none")
    leaves = _leaves(name, fabric, boxes, gpus * box.interface) if fabric.startswith("leaf") else None
    if leaves is None and fabric not in ("", "rails", "switch"):
        raise TopologyError(f"{name}: fabric {fabric!r}; allowed: {FABRICS}")
    planes = 0 if boxes == 1 else 1 if fabric == "switch" else leaves[0] + 1 if leaves else gpus
    cables = Cables(name, boxes * gpus, boxes * box.switches + planes)
    first = np.arange(boxes)
    for a, b, capacity in box.cables:
        cables.join(_numbers(box, boxes, a, first), _numbers(box, boxes, b, first), capacity)
    plane = boxes * (gpus + box.switches)
    every = np.arange(boxes * gpus)
    if leaves:
        count, each, uplink = leaves
        cables.join(every, plane + every // (gpus * each), box.interface)
        cables.join(plane + np.arange(count), plane + count, uplink)
    elif planes:
        cables.join(every, plane + every % gpus % planes, box.interface)
    return cables.build(bandwidth=box.unit)


def _numbers(box: Box, boxes: int, node: int, copy: NDArray[np.int64]) -> NDArray[np.int64]:
    """The ids of a node of the box in every copy."""
    if node < box.gpus:
        return copy * box.gpus + node
    return boxes * box.gpus + copy * box.switches + node - box.gpus


def _leaves(name: str, fabric: str, boxes: int, units: int) -> tuple[int, int, int]:
    """Leaf switches, boxes on each, and units of its cable to the core, for `leaf4/2` and boxes with cables of `units` units."""
    match = re.fullmatch("leaf([0-9]{1,5})(?:/([0-9]{1,3}))?", fabric)
    if match is None:
        raise TopologyError(f"{name}: fabric {fabric!r}; allowed: {FABRICS}")
    each, over = int(match[1]), int(match[2] or 1)
    if not each or boxes % each or boxes == each:
        raise TopologyError(f"{name}: leaf switches of {each} boxes; allowed: a divisor of {boxes} below it")
    if not over or units * each % over:
        raise TopologyError(f"{name}: uplinks {over} times too few for {units * each} units; allowed: divisors of them")
    return boxes // each, each, units * each // over
