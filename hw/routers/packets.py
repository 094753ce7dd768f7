"""Packets as columns: from a CSV file, or synthetic traffic from a seed."""

import csv
import io
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from certree.models.common.errors import InputError
from certree.models.common.files import read_bytes
from certree.models.network.topology import NodeKind, Topology

Int64 = NDArray[np.int64]
COLUMNS = ("id", "src", "dst", "flits", "start")
MAX_PACKETS = 1 << 24
MAX_FLITS = 1 << 30  # of one packet
MAX_START = 1 << 48  # cycles
MAX_ID = (1 << 63) - 1


@dataclass(frozen=True, eq=False)
class Packets:
    """One row per packet: `id`, nodes `src` and `dst` (may be equal), length in `flits`, cycle `start` at which it may leave."""

    id: Int64
    src: Int64
    dst: Int64
    flits: Int64
    start: Int64


NO_PACKETS = Packets(*(np.zeros(0, np.int64) for _ in COLUMNS))


def _limits(topology: Topology) -> dict[str, tuple[int, int]]:
    """The least and the largest value of every column."""
    nodes = len(topology.kind)
    return {
        "id": (0, MAX_ID),
        "src": (0, nodes - 1),
        "dst": (0, nodes - 1),
        "flits": (1, MAX_FLITS),
        "start": (0, MAX_START),
    }


def check_packets(packets: Packets, topology: Topology) -> None:
    """Raise InputError for the first packet with a value out of range, or from or to a node that is not an endpoint. O(packets)."""
    for name, (low, high) in _limits(topology).items():
        column = getattr(packets, name)
        bad = np.flatnonzero((column < low) | (column > high))
        if len(bad):
            raise InputError(
                f"packet {packets.id[bad[0]]}: {name} is {column[bad[0]]}; allowed: whole numbers from {low} to {high}"
            )
    for name, column in (("src", packets.src), ("dst", packets.dst)):
        bad = np.flatnonzero(topology.kind[column] != NodeKind.ENDPOINT)
        if len(bad):
            raise InputError(f"packet {packets.id[bad[0]]}: {name} {column[bad[0]]} is not an endpoint of {topology.name}")


def read_packets(path: Path, topology: Topology) -> Packets:
    """The packets in a CSV file with the columns id, src, dst, flits and start, in any order, one line of names first.

    Raises InputError, with file and line, for missing or unknown columns, values that are not whole numbers or are out of range,
    duplicate ids, nodes that are not endpoints of the network, and files without packets. O(packets).
    """
    try:
        text = read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not text: {error}") from None
    try:
        rows = [
            (reader.line_num, row) for reader in [csv.reader(io.StringIO(text, newline=""), strict=True)] for row in reader if row
        ]
    except csv.Error as error:
        raise InputError(f"{path} is not CSV: {error}") from None
    if not rows:
        raise InputError(f"{path} is empty; expected a line with the columns {','.join(COLUMNS)}, then one line per packet")
    names = [name.strip() for name in rows[0][1]]
    if sorted(names) != sorted(COLUMNS):
        told = ",".join(name if name.isprintable() else repr(name) for name in names)
        raise InputError(f"{path}, line {rows[0][0]}: columns are {told}; expected {','.join(COLUMNS)}")
    if len(rows) == 1:
        raise InputError(f"{path}: no packets")
    if len(rows) - 1 > MAX_PACKETS:
        raise InputError(f"{path}: {len(rows) - 1} packets; allowed: up to {MAX_PACKETS}")
    limits = _limits(topology)
    values: dict[str, list[int]] = {name: [] for name in COLUMNS}
    for line, row in rows[1:]:
        where = f"{path}, line {line}"
        if len(row) != len(names):
            raise InputError(f"{where}: {len(row)} values; expected {len(names)}")
        for name, cell in zip(names, row, strict=True):
            values[name].append(_whole_number(cell.strip(), name, limits[name], where))
    packets = Packets(**{name: np.array(column, np.int64) for name, column in values.items()})
    _check_ids(packets, [line for line, _ in rows[1:]], path)
    _check_nodes(packets, topology, [line for line, _ in rows[1:]], path)
    return packets


def _whole_number(text: str, name: str, limits: tuple[int, int], where: str) -> int:
    low, high = limits
    if not (text.isascii() and text.isdigit() and len(text) <= 19 and low <= int(text) <= high):
        raise InputError(f"{where}: {name} is {text!r}; allowed: whole numbers from {low} to {high}")
    return int(text)


def _check_ids(packets: Packets, lines: list[int], path: Path) -> None:
    order = np.argsort(packets.id, kind="stable")
    twice = np.flatnonzero(packets.id[order][1:] == packets.id[order][:-1])
    if len(twice):
        first, second = order[twice[0]], order[twice[0] + 1]
        raise InputError(f"{path}, line {lines[second]}: id {packets.id[second]} is that of line {lines[first]} already")


def _check_nodes(packets: Packets, topology: Topology, lines: list[int], path: Path) -> None:
    for name, column in (("src", packets.src), ("dst", packets.dst)):
        bad = np.flatnonzero(topology.kind[column] != NodeKind.ENDPOINT)
        if len(bad):
            raise InputError(f"{path}, line {lines[bad[0]]}: {name} {column[bad[0]]} is not an endpoint of {topology.name}")


def synthetic_packets(
    topology: Topology,
    *,
    load: Fraction,
    flits: int,
    cycles: int,
    seed: int,
    hot_spot: tuple[int, Fraction] | None = None,
) -> Packets:
    """Bernoulli traffic: in every cycle each endpoint starts a packet of `flits` with probability load / flits.

    Destinations are uniform over all endpoints, the source included; with `hot_spot` (node, share), that share of the packets goes
    to that node instead. The same seed gives the same packets (PCG64). Raises InputError for values out of range.
    Time and memory O(endpoints · cycles · load / flits).
    """
    if not (1 <= flits <= MAX_FLITS and 0 < load <= 1 and 1 <= cycles <= MAX_START and seed >= 0):
        raise InputError(
            f"load {load}, {flits} flits, {cycles} cycles, seed {seed}: a load is above 0 and at most 1, the others whole"
        )
    generator = np.random.Generator(np.random.PCG64(seed))
    endpoints = topology.endpoints.astype(np.int64)
    rate = float(load / flits)
    expected = rate * cycles * len(endpoints)
    if expected > MAX_PACKETS / 2:
        raise InputError(f"about {int(expected)} packets; allowed: up to {MAX_PACKETS // 2}")
    source, start = [], []
    for node in endpoints.tolist():
        draws = int(rate * cycles + 8 * (rate * cycles) ** 0.5) + 16
        times = np.cumsum(generator.geometric(rate, draws)) - 1
        while times[-1] < cycles:
            times = np.concatenate((times, times[-1] + np.cumsum(generator.geometric(rate, draws))))
        times = times[times < cycles]
        start.append(times)
        source.append(np.full(len(times), node, np.int64))
    src, when = np.concatenate(source), np.concatenate(start)
    order = np.lexsort((src, when))
    dst = endpoints[generator.integers(len(endpoints), size=len(order))]
    if hot_spot is not None:
        node, share = hot_spot
        if not (0 <= node < len(topology.kind) and topology.kind[node] == NodeKind.ENDPOINT and 0 <= share <= 1):
            raise InputError(f"hot spot {node} with share {share}: an endpoint of {topology.name}, and a share from 0 to 1")
        dst = np.where(generator.random(len(order)) < float(share), node, dst)
    return Packets(np.arange(len(order)), src[order], dst, np.full(len(order), flits, np.int64), when[order])
