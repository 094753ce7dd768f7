"""Demands: how much each endpoint has for each other one, for collectives in which that differs (alltoallv)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.models.common.errors import InputError, short
from certree.models.common.fields import Fields
from certree.models.common.files import csv_rows, read_bytes
from certree.models.network.topology import MAX_NODES, Topology

Int64 = NDArray[np.int64]

MAX_GRANULES = 1 << 30  # of a demand: sums of products with distances stay within 64 bits
MAX_PAIRS = 1 << 24
_MOST_BYTES = 1 << 50  # of a cell
_COLUMNS = ("src", "dst", "granules")


@dataclass(frozen=True)
class Demand:
    """The amounts of a demand. `blocks`: (source, target, granules) for each ordered pair of endpoints (node ids) that has any, by
    source, then target.

    A granule is the unit of sizes: the payload of a flit of the machine, by default 16 bytes. The constructor sorts the blocks;
    InputError for a block to its own source, a pair that comes twice, sizes below 1, and a total above MAX_GRANULES.
    """

    blocks: tuple[tuple[int, int, int], ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "blocks", tuple(sorted(tuple(block) for block in self.blocks)))
        if not 1 <= len(self.blocks) <= MAX_PAIRS:
            raise InputError(f"demand: {len(self.blocks)} blocks; allowed: 1 to {MAX_PAIRS}")
        if {type(number) for block in self.blocks for number in block} != {int} or not self._is_right():
            self._refuse()
        if self.granules > MAX_GRANULES:
            raise InputError(f"demand: {self.granules} granules; allowed: up to {MAX_GRANULES} in all")

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash(self.blocks)

    def _is_right(self) -> bool:
        """Whether all blocks, which are whole numbers, are right."""
        try:
            source, target, granules = self.columns
        except (OverflowError, ValueError):
            return False
        lowest, highest = min(source.min(), target.min()), max(source.max(), target.max())
        twice = (source[1:] == source[:-1]) & (target[1:] == target[:-1])
        wrong = (lowest < 0, highest >= MAX_NODES, granules.min() < 1, (source == target).any(), twice.any())
        return not any(wrong)

    def _refuse(self) -> None:
        """Raise InputError for the first block that is wrong."""
        before = None
        for source, target, granules in self.blocks:
            if not all(type(number) is int for number in (source, target, granules)):
                raise InputError(f"demand: {short((source, target, granules))}; allowed: whole numbers")
            if source == target or (source, target) == before or not (0 <= source < MAX_NODES and 0 <= target < MAX_NODES):
                raise InputError(f"demand from {source} to {target}; allowed: each ordered pair of different endpoints once")
            if granules < 1:
                raise InputError(
                    f"demand from {source} to {target}: {granules} granules; allowed: 1 or more (pairs without are left out)"
                )
            before = (source, target)

    @cached_property
    def columns(self) -> tuple[Int64, Int64, Int64]:
        """Sources, targets and granules of the blocks."""
        source, target, granules = np.array(self.blocks, np.int64).T
        return source, target, granules

    @cached_property
    def granules(self) -> int:
        """The number of granules of all blocks."""
        return sum(granules for _, _, granules in self.blocks)

    def scaled(self, granules: int) -> "Demand":
        """A demand in these proportions with about `granules` granules, blocks rounded up: no block is larger than with more."""
        whole = self.granules
        return Demand(tuple((source, target, -(-amount * granules // whole)) for source, target, amount in self.blocks))

    def require_fits(self, topology: Topology) -> None:
        """Raise InputError unless sources and targets are endpoints of this topology."""
        nodes = np.unique(np.concatenate(self.columns[:2]))
        wrong = nodes[(nodes >= len(topology.kind)) | (topology.rank[np.minimum(nodes, len(topology.kind) - 1)] < 0)]
        if len(wrong):
            first, last = int(topology.endpoints[0]), int(topology.endpoints[-1])
            raise InputError(f"demand: node {wrong[0]} is not an endpoint of {topology.name}; endpoints are in {first} to {last}")

    def named_columns(self) -> dict[str, Int64]:
        """The columns by the names that files have for them."""
        return dict(zip(_COLUMNS, self.columns, strict=True))

    def document(self) -> dict[str, list[int]]:
        """The columns by name, as lists of whole numbers for JSON."""
        return {name: column.tolist() for name, column in self.named_columns().items()}


def read_demand(fields: Fields) -> Demand:
    """The demand in a table of three columns."""
    columns = fields.only(*_COLUMNS).columns({"src": (0, MAX_NODES), "dst": (0, MAX_NODES), "granules": (0, MAX_GRANULES)})
    try:
        return Demand(tuple(zip(*(columns[name].tolist() for name in _COLUMNS), strict=True)))
    except InputError as error:
        fields.refuse(str(error))


def demand_of_bytes(amounts: Sequence[Sequence[int]] | NDArray[Any], topology: Topology, granule_bytes: int) -> Demand:
    """The demand of a square matrix: entry (i, j) is the bytes that endpoint number i has for endpoint number j.

    Each block is padded to whole granules. What an endpoint has for itself never moves and does not count. InputError for a matrix
    of another size, entries that are not whole numbers from 0, and no demand at all.
    """
    endpoints = topology.endpoints.tolist()
    if isinstance(amounts, np.ndarray) and _is_plain(amounts, len(endpoints)):
        here, there = np.nonzero(np.where(np.eye(len(endpoints), dtype=np.bool_), 0, amounts))
        ends = (topology.endpoints[here], topology.endpoints[there], -(-amounts[here, there] // granule_bytes))
        return Demand(tuple(zip(*(column.tolist() for column in ends), strict=True)))
    rows = [list(row) for row in amounts]
    if len(rows) != len(endpoints) or any(len(row) != len(endpoints) for row in rows):
        width = max(map(len, rows), default=0)
        raise InputError(f"demand: {len(rows)} rows of up to {width} entries; {topology.name} has {len(endpoints)} endpoints")
    blocks = []
    for i, row in enumerate(rows):
        for j, entry in enumerate(row):
            amount = int(entry) if isinstance(entry, int | np.integer) and not isinstance(entry, bool) else -1
            if not 0 <= amount <= _MOST_BYTES:
                raise InputError(f"demand: row {i}, column {j}: {short(entry)}; allowed: whole bytes from 0 to {_MOST_BYTES}")
            if amount and i != j:
                blocks.append((endpoints[i], endpoints[j], -(-amount // granule_bytes)))
    return Demand(tuple(blocks))


def _is_plain(amounts: NDArray[Any], endpoints: int) -> bool:
    """Whether an array is a matrix of amounts that are allowed."""
    is_whole = amounts.shape == (endpoints, endpoints) and amounts.dtype == np.int64
    return is_whole and bool(amounts.min() >= 0 and amounts.max() <= _MOST_BYTES)


def load_demand(path: Path, topology: Topology, granule_bytes: int) -> Demand:
    """The demand in a CSV: N lines of N cells, the bytes from endpoint number i (line) to number j (cell); empty cells are 0.

    InputError names the file and, for a cell, the row and column, numbered from 1, and what is allowed.
    """
    lines = [line for line in csv_rows(read_bytes(path), str(path)) if line]
    count = len(topology.endpoints)
    if len(lines) != count:
        raise InputError(f"{path}: {len(lines)} rows; allowed: {count}, one for each endpoint of {topology.name}")
    amounts = [_amounts(cells, count, f"{path}: row {number}") for number, cells in enumerate(lines, 1)]
    try:
        return demand_of_bytes(amounts, topology, granule_bytes)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _amounts(cells: Iterable[str], count: int, where: str) -> list[int]:
    texts = [cell.strip() for cell in cells]
    if len(texts) != count:
        raise InputError(f"{where}: {len(texts)} cells; allowed: {count}, one for each endpoint")
    for column, text in enumerate(texts, 1):
        if text and not (text.isascii() and text.isdigit() and len(text) < 17 and int(text) <= _MOST_BYTES):
            raise InputError(f"{where}, column {column}: {short(text)}; allowed: whole bytes from 0 to {_MOST_BYTES}, or nothing")
    return [int(text or 0) for text in texts]
