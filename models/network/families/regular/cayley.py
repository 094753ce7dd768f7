"""Cayley graphs by their generators: circulants, tori with diagonals, star and pancake graphs."""

import math
import re

import numpy as np
from numpy.typing import NDArray

from certree.models.common.errors import TopologyError
from certree.models.network.families import FAMILIES
from certree.models.network.families.regular.grid import from_heads, parse_sizes
from certree.models.network.topology import MAX_NODES, Topology

MAX_POINTS = 12  # that a permutation moves
MAX_LINKS = 1 << 24

Permutation = tuple[int, ...]


@FAMILIES.register("cayley", "cayley:10@1+3", "cayley:102+021")
def cayley(arguments: str) -> Topology:
    """cayley:SIZES@VECTORS|PERMUTATIONS - a group, links from g to g·s and g·s⁻¹: 16@1+3, 8x8@0x1+1x1, 102+021

    SIZES@VECTORS is addition in a box that wraps around (one size: a circulant), nodes numbered as in a torus. Permutations of
    0, 1, ... stand in one-line notation, one digit each or joined by dots, and the nodes are numbered in the order in which they
    are reached from the identity, which is node 0. A generator that starts with > has links to g·s only.
    """
    where = f"cayley:{arguments}"
    sizes, at, generators = arguments.rpartition("@")
    words = generators.split("+")
    one_way = [word.startswith(">") for word in words]
    texts = [word.removeprefix(">") for word in words]
    heads = _in_box(where, sizes, texts, one_way) if at else _of_permutations(where, texts, one_way)
    ordered = np.sort(heads, axis=1)
    if (heads == np.arange(len(heads))[:, None]).any():
        raise TopologyError(f"{where}: a generator is the identity")
    if (ordered[:, 1:] == ordered[:, :-1]).any():
        raise TopologyError(f"{where}: two generators, or one and another's inverse, are equal")
    return from_heads(where, heads)


def _in_box(where: str, sizes: str, texts: list[str], one_way: list[bool]) -> NDArray[np.int64]:
    """Shape (nodes, links): where each link leads from each node."""
    box = parse_sizes("cayley", sizes)
    nodes = math.prod(box)
    place = np.stack(np.unravel_index(np.arange(nodes), box), axis=1)
    vectors: list[NDArray[np.int64]] = []
    for text, single in zip(texts, one_way, strict=True):
        if not re.fullmatch(r"[0-9]{1,9}(x[0-9]{1,9})*", text) or text.count("x") != len(box) - 1:
            raise TopologyError(f"{where}: generator {text!r}; expected {len(box)} whole number(s) joined by x")
        vector = np.array([int(part) for part in text.split("x")], np.int64) % box
        vectors.append(vector)
        if not single and (2 * vector % box).any():
            vectors.append(-vector % np.array(box))
    if nodes * len(vectors) > MAX_LINKS:
        raise TopologyError(f"{where}: more than {MAX_LINKS} links")
    heads = [np.ravel_multi_index(tuple(((place + vector) % box).T), box) for vector in vectors]
    return np.stack(heads, axis=1)


def _of_permutations(where: str, texts: list[str], one_way: list[bool]) -> NDArray[np.int64]:
    """The generators of the group that permutations generate."""
    generators: list[Permutation] = []
    for text, single in zip(texts, one_way, strict=True):
        parts = text.split(".") if "." in text else list(text)
        images = tuple(int(part) for part in parts) if all(re.fullmatch(r"[0-9]{1,2}", part) for part in parts) else ()
        if not 2 <= len(images) <= MAX_POINTS or sorted(images) != list(range(len(images))):
            raise TopologyError(
                f"{where}: generator {text!r}; expected a permutation of 0, 1, ... such as 102, of up to {MAX_POINTS}"
            )
        if generators and len(images) != len(generators[0]):
            raise TopologyError(f"{where}: generator {text!r} permutes {len(images)} things, the first one {len(generators[0])}")
        inverse = tuple(images.index(point) for point in range(len(images)))
        generators += [images] if single or inverse == images else [images, inverse]
    number = {tuple(range(len(generators[0]))): 0}
    elements = list(number)
    heads: list[list[int]] = []
    for element in elements:  # which grows meanwhile
        row = []
        for generator in generators:
            product = tuple(element[point] for point in generator)
            if product not in number:
                number[product] = len(elements)
                elements.append(product)
            row.append(number[product])
        heads.append(row)
        if len(elements) > MAX_NODES:
            raise TopologyError(f"{where}: more than {MAX_NODES} nodes")
    return np.array(heads, np.int64)
