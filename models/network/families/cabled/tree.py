"""`tree:...` and the networks of the GenTree paper, which are such trees."""

import re

import numpy as np

from certree.models.common.errors import TopologyError
from certree.models.network.families import FAMILIES
from certree.models.network.families.cabled.cables import Cables
from certree.models.network.families.regular.grid import no_arguments, parse_sizes
from certree.models.network.topology import MAX_CAPACITY, MAX_NODES, Topology

#: GenTree, Table 5: a float takes 6.4e-9 s over a server's link or between data centres, 6.4e-10 s between middle and root switch
UPLINK = 10


def split_capacity(family: str, arguments: str) -> tuple[str, int]:
    """("4x2x8", 10) of `4x2x8@10`, capacity 1 where none is given; TopologyError when it is out of range."""
    sizes, at, text = arguments.partition("@")
    if not at:
        return sizes, 1
    if not re.fullmatch(r"[0-9]{1,9}", text) or not 1 <= int(text) <= MAX_CAPACITY:
        raise TopologyError(f"{family}:{arguments}: capacity {text!r}; allowed: whole numbers from 1 to {MAX_CAPACITY}")
    return sizes, int(text)


@FAMILIES.register("tree", "tree:3+4@10", "tree:2x3/2x2@10")
def tree(arguments: str) -> Topology:
    """tree:M1+M2+...[/...][@C] - a root over middle switches with M1, M2, ... endpoints; AxM is A of M; uplinks of capacity C.

    `tree:8x32+8x16@10` has eight middle switches of 32 endpoints, then eight of 16; C is 1 when it is left out. A / separates data
    centres, whose roots are joined in a row by unit links. Middle switches follow the endpoints, roots come last. `tree:2x3` and
    `tree:3+4` are the trees of GenTree's Figure 6 that its Figure 7 works out.
    """
    text, uplink = split_capacity("tree", arguments)
    return _trees(f"tree:{arguments}", [_middles(arguments, centre) for centre in text.split("/")], uplink)


def _middles(arguments: str, text: str) -> list[int]:
    """Endpoints of every middle switch of one tree."""
    groups: list[int] = []
    for part in text.split("+"):
        sizes = parse_sizes("tree", part) if part else ()
        if not 1 <= len(sizes) <= 2 or len(groups) + sizes[0] > MAX_NODES:
            raise TopologyError(f"tree:{arguments}: expected numbers of endpoints joined by +, such as 3+4 or 8x32+8x16")
        groups += [sizes[-1]] * (sizes[0] if len(sizes) == 2 else 1)
    return groups


@FAMILIES.register("ss", "ss:24")
def single_switch(arguments: str) -> Topology:
    """ss:N - GenTree's single switch with N servers; SS24 is ss:24, SS32 is ss:32. The same network as switch:N."""
    (nodes,) = parse_sizes("ss", arguments, dimensions=1)
    cables = Cables(f"ss:{nodes}", nodes, 1)
    cables.join(np.arange(nodes), nodes)
    return cables.build()


@FAMILIES.register("sym384", "sym384")
def sym384(arguments: str) -> Topology:
    """sym384 - GenTree's symmetric tree: 16 middle switches with 24 servers each; uplinks 10 times as wide as a server's link."""
    no_arguments("sym384", arguments)
    return _trees("sym384", [[24] * 16], UPLINK)


@FAMILIES.register("sym512", "sym512")
def sym512(arguments: str) -> Topology:
    """sym512 - GenTree's symmetric tree: 16 middle switches with 32 servers each; uplinks 10 times as wide as a server's link."""
    no_arguments("sym512", arguments)
    return _trees("sym512", [[32] * 16], UPLINK)


@FAMILIES.register("asy384", "asy384")
def asy384(arguments: str) -> Topology:
    """asy384 - GenTree's asymmetric tree: 8 middle switches with 32 servers, 8 with 16; uplinks 10 times as wide."""
    no_arguments("asy384", arguments)
    return _trees("asy384", [[32] * 8 + [16] * 8], UPLINK)


@FAMILIES.register("cdc384", "cdc384")
def cdc384(arguments: str) -> Topology:
    """cdc384 - GenTree's two data centres, 8 middle switches with 32 servers and 8 with 16; one unit link between their roots.

    Servers of the first data centre come first, then those of the second; then all middle switches, then the two roots.
    Capacities from the paper's Table 5, as in `sym384`; its start-up times are not link latencies and are left to the machine.
    """
    no_arguments("cdc384", arguments)
    return _trees("cdc384", [[32] * 8, [16] * 8], UPLINK)


def _trees(name: str, centres: list[list[int]], uplink: int) -> Topology:
    """Trees of middle switches with these numbers of endpoints; the roots of several trees are joined in a row by unit links."""
    groups = [size for centre in centres for size in centre]
    nodes = sum(groups)
    cables = Cables(name, nodes, len(groups) + len(centres))
    middle = nodes + np.arange(len(groups))
    roots = nodes + len(groups) + np.arange(len(centres))
    cables.join(np.arange(nodes), np.repeat(middle, groups))
    cables.join(middle, np.repeat(roots, [len(centre) for centre in centres]), uplink)
    if len(centres) > 1:
        cables.join(roots[:-1], roots[1:])
    return cables.build()
