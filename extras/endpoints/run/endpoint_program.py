"""Endpoints and a collective as the columns that the core runs (`core/endpoint/run/program.hpp`)."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.extras.endpoints.model.endpoint import Endpoint, Runs, System
from certree.extras.endpoints.run.messages import ChunkRows
from certree.extras.endpoints.run.streams import flow_columns
from certree.extras.endpoints.run.unit_scalars import check_scalars, unit_scalars
from certree.hw.core_calls import narrowed
from certree.hw.engines.core_program import mixed
from certree.models.common.errors import InputError, UnsupportedError
from certree.models.network.topology import Topology
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.timing import ceil_div

Int64 = NDArray[np.int64]
MAX_PLACES = 1 << 28  # entries of the core's tables of chunks
MAX_UNITS = 1 << 22  # of a kind, over all nodes
LATEST = 10**15 - 1  # cycle in which a collective is asked for


@dataclass(frozen=True)
class Payload:
    """One collective: its bytes at every node, and the cycle in which all nodes ask for it, from 0 to LATEST (InputError)."""

    size: int
    start: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.start <= LATEST:
            raise InputError(f"a collective is asked for in cycle {self.start}; allowed: 0 to {LATEST}")


@dataclass(frozen=True)
class Choices:
    """Rules of the endpoints. `ways`: the `parts` of `ChunkRows`. `lifo`: the latest collective first. Three rules prevent
    deadlock and are not in the paper: `in_order`, chunks enter a partition in the order of loading; `spare`, a port holds one
    message more than is sent through it before any is taken; `apart`, a port has separate places for each sender and state
    machine, so that a message that cannot be taken yet does not block others."""

    ways: int = 1
    lifo: bool = False
    in_order: bool = True
    spare: bool = True
    apart: bool = True


class EndpointProgram:
    """A schedule on endpoints: `scalars` and `columns` for the core, and the `rows` that they stand for.

    UnsupportedError for more phases than state machines, a chunk that is larger than its partition, and other excessive sizes.
    """

    def __init__(
        self, schedule: Schedule, endpoint: Endpoint, system: System, payloads: Sequence[Payload], choices: Choices
    ) -> None:
        self.endpoint, self.system, self.choices = endpoint, system, choices
        self.chunk_bytes = min(system.chunk_bytes, max(payload.size for payload in payloads))
        self.rows = ChunkRows(schedule, choices.ways, self.chunk_bytes, system.message_bytes)
        self.chunks_of_payload = [ceil_div(payload.size, self.chunk_bytes) for payload in payloads]
        self.chunks = sum(self.chunks_of_payload)
        self.nodes = len(schedule.topology.endpoints)
        places = self.chunks * max(self.nodes * self.rows.phases, len(self.rows.message_sizes), len(self.rows.cells_of_part[0][0]))
        if places > MAX_PLACES:
            raise UnsupportedError(
                f"{self.chunks} chunks are too many here: {places} entries; allowed: {MAX_PLACES}; use larger chunks"
            )
        self.links = PhysicalLinks(schedule.topology, endpoint)
        self.machines = self._machines()
        self.rooms, self.sizes = self._partitions()
        flows = flow_columns(self.rows, self.machines, spare=choices.spare, apart=choices.apart)
        self._refuse_too_many_units(flows)
        self.columns: dict[str, NDArray[Any]] = {
            name: narrowed(name, column) for name, column in {**self._row_columns(), **flows, **self.links.columns()}.items()
        }
        self.columns |= {
            "phase_machines": np.array(self.machines, np.uint32),
            "rooms": np.array(self.rooms, np.uint64),
            "sizes": np.array(self.sizes, np.uint64),
            "command_chunks": np.array(self.chunks_of_payload, np.uint32),
            "command_start": np.array([payload.start for payload in payloads], np.uint64),
        }
        self.scalars = self._scalars()
        check_scalars(self.scalars)

    def _machines(self) -> list[int]:
        """State machines of each phase: as many as there are, evenly. Accelerators and ideal interfaces work on as many chunks
        at once: otherwise all chunks would go through the phases together, and leave the links of all other phases idle."""
        machines, phases = self.endpoint.engine.state_machines, self.rows.phases
        if phases > machines:
            raise UnsupportedError(
                f"{phases} phases need as many state machines or more; {self.endpoint.name} has {machines}: give it more, or take "
                "a method with fewer phases"
            )
        return [machines // phases + (phase < machines % phases) for phase in range(phases)]

    def _refuse_too_many_units(self, flows: dict[str, Int64]) -> None:
        """Raise UnsupportedError for more state machines, ports, ALUs or banks than the core can hold."""
        engine = self.endpoint.engine
        pairs = zip(flows["flow_link"].tolist(), flows["flow_phase"].tolist(), strict=True)
        ports = sum(self.links.lanes[link] * self.machines[phase] for link, phase in pairs)
        for count, what in (
            (self.nodes * engine.state_machines, f"{engine.state_machines} state machines"),
            (ports, f"{engine.state_machines} state machines, with a port for each and each lane of a link,"),
            (self.nodes * engine.alus, f"{engine.alus} ALUs"),
            (self.nodes * engine.banks, f"{engine.banks} banks"),
        ):
            if count > MAX_UNITS:
                raise UnsupportedError(f"{what} are too many here: {count} in all; allowed: {MAX_UNITS}")

    def _partitions(self) -> tuple[list[int], list[int]]:
        """(bytes of each partition, bytes of a chunk there).

        As in the paper, the size of a partition is proportional to the bandwidth of its phase's links times a chunk's size at the
        start of the phase; for results it is the last phase's bandwidth times the whole result. A chunk takes the larger of what a
        node holds of it at the beginning and at the end of the phase."""
        live = self.rows.live_bytes.tolist()
        sizes = [max(live[phase], live[phase + 1]) for phase in range(self.rows.phases)] + [live[-1]]
        if self.system.runs is not Runs.ENGINE:
            return [0] * len(sizes), sizes
        bandwidths = self._bandwidths()
        weights = [rate * size for rate, size in zip([*bandwidths, bandwidths[-1]], live, strict=True)]
        sram = self.endpoint.engine.sram_bytes
        rooms = [int(sram * weight / sum(weights)) for weight in weights]
        for phase, (room, size) in enumerate(zip(rooms, sizes, strict=True), 1):
            if size > room:
                most = min(self.chunk_bytes * room // size for room, size in zip(rooms, sizes, strict=True))
                raise UnsupportedError(
                    f"a chunk of {self.chunk_bytes} bytes takes {size} in partition {phase} of {len(rooms)}, which has {room} "
                    f"of the {sram} bytes of SRAM: make chunks of at most about {most} bytes, or the SRAM larger"
                )
        return rooms, sizes

    def _bandwidths(self) -> list[Fraction]:
        """For every phase the bandwidth of the links that the node with the most of it sends by."""
        begin, pair = self.rows.links()
        first, phase = pair[begin[:-1]], self.rows.of_messages("phase")
        found = []
        for number in range(self.rows.phases):
            used = np.unique(first[phase == number]).tolist()
            of_node: dict[int, Fraction] = {}
            for link in used:
                node = int(self.rows.schedule.topology.pair_src[link])
                of_node[node] = of_node.get(node, Fraction(0)) + self.links.rate[link] * self.links.lanes[link]
            found.append(max(of_node.values()))
        return found

    def _row_columns(self) -> dict[str, Int64]:
        rows = self.rows
        place = (rows.of_messages("part") * rows.phases + rows.of_messages("phase")) * self.nodes
        places = rows.parts * rows.phases * self.nodes
        earlier, later = rows.waits()
        link_begin, links = rows.links()
        count = len(rows.message_sizes)
        return {
            "row_begin": np.searchsorted(place + rows.of_messages("src"), np.arange(places + 1)),
            "receipts": np.bincount(place + rows.of_messages("dst"), minlength=places),
            "row_source": rows.of_messages("src"),
            "row_destination": rows.of_messages("dst"),
            "row_phase": rows.of_messages("phase"),
            "row_adds": rows.of_messages("adds"),
            "row_bytes": rows.message_sizes,
            "row_needs": np.bincount(later, minlength=count),
            "row_feeds_begin": np.searchsorted(earlier, np.arange(count + 1)),
            "row_feeds": later,
            "row_links_begin": link_begin,
            "row_links": links,
            "row_from_begin": rows.first_move,
            "row_from": rows.cells("src"),
            "row_to_begin": rows.first_move,
            "row_to": rows.cells("dst"),
        }

    def _scalars(self) -> dict[str, int]:
        return {
            **unit_scalars(self.endpoint, self.system),
            "nodes": self.nodes,
            "phases": self.rows.phases,
            "parts": self.rows.parts,
            "chunks": self.chunks,
            "cells": max(len(node) for node, _ in self.rows.cells_of_part),
            "load_bytes": int(self.rows.live_bytes[0]),
            "result_bytes": int(self.rows.live_bytes[-1]),
            "lifo": self.choices.lifo,
            "in_order": self.choices.in_order,
            "apart": self.choices.apart,
        }

    def first_cells(self) -> NDArray[np.uint64]:
        """The data of every chunk at the start, shape (chunks, cells): contributions, or blocks at their roots; zero elsewhere."""
        cells = np.zeros((self.chunks, self.scalars["cells"]), np.uint64)
        schedule = self.rows.schedule
        for part, (node, piece) in enumerate(self.rows.cells_of_part):
            chunks, number = self._numbers(part, piece)
            values = mixed(node[None, :], number)
            if not schedule.collective.reduces:
                root = schedule.chunk_root[part * self.rows.segments + piece // self.rows.pieces]
                values[:, schedule.topology.endpoints[node] != root] = 0
            cells[chunks, : len(node)] = values
        return cells

    def first_wrong(self, cells: NDArray[np.uint64]) -> tuple[int, int, int] | None:
        """The first (rank, chunk, piece) that is due and has a wrong value, or None; sums are recomputed here, modulo 2^64.
        O(chunks · cells + nodes · chunks · pieces)."""
        schedule = self.rows.schedule
        for part, (node, piece) in enumerate(self.rows.cells_of_part):
            chunks, number = self._numbers(part, np.arange(int(piece.max(initial=0)) + 1))
            promised = np.zeros(number.shape, np.uint64)
            if schedule.collective.reduces:
                for rank in range(self.nodes):
                    promised += mixed(np.full((1, 1), rank), number)
            else:
                roots = schedule.chunk_root[part * self.rows.segments + np.arange(number.shape[1]) // self.rows.pieces]
                promised = mixed(np.searchsorted(schedule.topology.endpoints, roots)[None, :], number)
            wrong = (cells[chunks, : len(node)] != promised[:, piece]) & self.rows.due(part)[None, :]
            if wrong.any():
                chunk, cell = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
                return int(node[cell]), int(np.arange(self.chunks)[chunks][chunk]), int(piece[cell])
        return None

    def _numbers(self, part: int, piece: Int64) -> tuple[slice, Int64]:
        """(chunks that follow this part, numbers of their pieces among all)."""
        chunks = slice(part, None, self.rows.parts)
        own = np.arange(self.chunks)[chunks, None]
        return chunks, own * (self.rows.segments * self.rows.pieces) + piece[None, :]


class PhysicalLinks:
    """Pairs of neighbours as physical links: `rate` in bytes per cycle, number of parallel `lanes`, latency.

    The lanes of a pair are as few as their kind allows, and equally fast.
    """

    def __init__(self, topology: Topology, endpoint: Endpoint) -> None:
        inside, outside = endpoint.intra_package, endpoint.inter_package
        slowest = np.full(len(topology.pair_capacity), -1, np.int64)
        np.maximum.at(slowest, topology.pair_of_link, topology.latency.astype(np.int64))
        self.rate: list[Fraction] = []
        self.lanes: list[int] = []
        self.latency: list[int] = []
        for capacity, stated in zip(topology.pair_capacity.tolist(), slowest.tolist(), strict=True):
            kind = inside if stated == inside.latency_cycles else outside
            speed = Fraction(capacity) / topology.scale * outside.bytes_per_second
            lanes = ceil(speed / kind.bytes_per_second)
            self.rate.append(speed / lanes * kind.efficiency / endpoint.interface.clock_hertz)
            self.lanes.append(lanes)
            self.latency.append(kind.latency_cycles if stated < 0 else stated)

    def columns(self) -> dict[str, NDArray[Any]]:
        """For the core."""
        return {
            "link_bytes": np.array([rate.numerator for rate in self.rate]),
            "link_cycles": np.array([rate.denominator for rate in self.rate]),
            "link_latency": np.array(self.latency),
            "link_lanes": np.array(self.lanes),
        }
