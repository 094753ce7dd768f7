"""Lower bounds on runs with endpoints: what the units of a node, and its links, must move, whatever the schedule."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.extras.endpoints.model.endpoint import FLOAT_BYTES, Endpoint, Runs, System
from certree.models.machine.machine import Machine
from certree.models.network.topology import Topology
from certree.models.schedule.collective import Collective

Int64 = NDArray[np.int64]
Nodes = NDArray[np.integer[Any]]
#: what the bound assumes of runs, next to their shares of the message, and what it does not count
CLASS = ("any schedule and chunks", "switches do not add")
LEFT_OUT = ("gaps and overheads between the first and the last transfer", "heads", "waits of messages", "links behind the first")


@dataclass(frozen=True)
class Moved:
    """Bytes at each node: what it has at the start (`load`), is due in the end (`result`), and what must at least go out and come
    in by its links. `added`: bytes that all nodes together must add; `transferred`: that they must send."""

    load: Int64
    result: Int64
    out: Int64
    come_in: Int64
    added: int
    transferred: int


@dataclass(frozen=True)
class EndpointBound:
    """A lower bound in cycles, the largest of `terms`, each named by the unit that it counts."""

    cycles: int
    unit: str
    terms: dict[str, int]


def moved_bytes(collective: Collective, topology: Topology, root: Nodes, target: Nodes | None, sizes: Int64) -> Moved:
    """The bytes that any schedule moves for chunks with these roots, targets and bytes: contributions leave, since others need
    them, and what a node has not contributed alone must come in. Sums are made at nodes, once for each two summands. O(chunks)."""
    nodes, members = len(topology.kind), collective.members_of(topology)
    whole = int(sizes.sum())
    all_of, own, due = (np.zeros(nodes, np.int64) for _ in range(3))
    all_of[members] = whole
    if not collective.reduces:
        np.add.at(own, root, sizes)
    if not collective.gathers:
        np.add.at(due, root if target is None else target, sizes)
    if len(members) < 2:
        return Moved(all_of if collective.reduces else own, all_of if collective.gathers else due, due * 0, due * 0, 0, 0)
    load, result = all_of if collective.reduces else own, all_of if collective.gathers else due
    if collective.reduces:  # a node keeps its summand of what is due there alone, and the rest of its summands leaves
        out = load if collective.gathers else load - due
        once = whole * (len(members) - 1)  # a transfer joins two partial sums; behind the first whole sum each other node gets one
        return Moved(load, result, out, result, once, 2 * once if collective.gathers else once)
    come_in = result - own if collective.gathers else due
    return Moved(load, result, own, come_in, 0, int(come_in.sum()))


def moved_of_message(collective: Collective, topology: Topology, root: Nodes, target: Nodes | None, message_bytes: int) -> Moved:
    """`moved_bytes` of a message of that size, before it is padded, in equal chunks with these roots and targets: the same for the
    same shares, into however many chunks a share is cut. What does not divide is left out. O(chunks log chunks)."""
    place = root * 0 if not collective.is_rooted else root if target is None else root * np.int64(len(topology.kind)) + target
    _, first, count = np.unique(place, return_index=True, return_counts=True)
    each = int(np.gcd.reduce(count))
    unit = message_bytes * each // collective.message_chunks(topology, len(root))
    return moved_bytes(collective, topology, root[first], None if target is None else target[first], count // each * unit)


def endpoint_bound(topology: Topology, machine: Machine, endpoint: Endpoint, system: System, moved: Moved) -> EndpointBound:
    """The bound for any schedule, chunks and order, with chunks of these roots and shares.

    Runs of its CLASS take no less; LEFT_OUT is what it does not count. O(nodes + links).
    """
    terms = dict(_terms(topology, machine, endpoint, system, moved))
    unit = max(terms, key=lambda name: terms[name])
    return EndpointBound(terms[unit], unit, terms)


def _terms(topology: Topology, machine: Machine, endpoint: Endpoint, system: System, moved: Moved) -> Iterator[tuple[str, int]]:
    buses, engine, clock = endpoint.buses, endpoint.engine, endpoint.interface.clock_hertz
    ideal, runs_engine = system.runs is Runs.IDEAL, system.runs is Runs.ENGINE
    about = 2 * buses.overhead_cycles + buses.latency_cycles  # a transfer without its bytes
    moves = bool(moved.out.any() or moved.come_in.any())
    trip = 0 if ideal else 2 * (about + 1)  # memory and bus, at least a byte
    after = int(moves) if ideal else trip
    endpoints = len(topology.endpoints)
    added, mean = Fraction(moved.added, endpoints), Fraction(moved.transferred, endpoints)  # of the node with the most, at least
    if moves:
        path = 2 * machine.ni_cycles + 2 * machine.router_cycles + _least_latency(topology, machine)
        yield "links", trip + path + ceil(_link_cycles(topology, machine, moved)) + after
    else:
        yield "links", 0
    if ideal:
        return
    memory = clock / (system.memory_bytes_per_second or buses.memory_bytes_per_second)
    interface = clock / buses.interface_bytes_per_second
    if runs_engine:
        most = Fraction(int((moved.load + moved.result).max(initial=0)))
        sent, received = (Fraction(int(column.max(initial=0))) for column in (moved.load, moved.result))
    else:
        each = int((moved.out + moved.come_in).max(initial=0))
        most = max(Fraction(each), Fraction(2 * moved.transferred, endpoints) + 3 * added)
        sent, received = (max(Fraction(int(column.max(initial=0))), mean) for column in (moved.out, moved.come_in))
    if most:
        yield "memory bus", about + ceil(most * memory)
    if sent:
        yield "bus to the interface", 2 * about + 1 + ceil(sent * interface)
    if received:
        yield "bus to the accelerator", 2 * about + 1 + ceil(received * interface)
    if runs_engine:
        yield "banks", ceil(max(Fraction(int(moved.come_in.max(initial=0))), mean) / (engine.banks * engine.bank_bytes))
        yield "ALUs", ceil(added / (engine.alus * engine.alu_bytes))
        if sent:  # chunks fill the first partition while they are loaded
            yield "SRAM", ceil(max(sent, received) * trip / (engine.sram_bytes * sent / (sent + received)))
    else:
        rate = endpoint.accelerator.adders * endpoint.accelerator.clock_hertz * FLOAT_BYTES * (system.compute_share or 1)
        yield "adders", ceil(added * clock / rate)


def _least_latency(topology: Topology, machine: Machine) -> int:
    """The least latency of any link, in cycles."""
    return int(np.where(topology.latency < 0, machine.link_latency_cycles, topology.latency).min())


def _link_cycles(topology: Topology, machine: Machine, moved: Moved) -> Fraction:
    """Cycles in which all links out of a node, or into it, carry its bytes, or those of all endpoints what they transfer."""
    found = Fraction(0)
    for ends, carried in ((topology.src, moved.out), (topology.dst, moved.come_in)):
        capacity = np.zeros(len(topology.kind), np.int64)
        np.add.at(capacity, ends, topology.capacity)
        for node in np.flatnonzero(carried).tolist():
            found = max(found, Fraction(int(carried[node]), int(capacity[node])))
        found = max(found, Fraction(moved.transferred, int(capacity[topology.endpoints].sum())))
    return found * topology.scale / machine.flit_bytes
