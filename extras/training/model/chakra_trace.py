"""Workloads of Chakra traces: the computations of one rank in turn, and the collectives that they wait for.

The accelerator computes one node at a time, in the order of the file as far as nodes do not wait for later ones. A collective is
asked for as soon as what it waits for is over, and is waited for before the first node that needs it. A collective that waits for
another one keeps the accelerator waiting too; at the end of an iteration all collectives are waited for.
"""

from collections.abc import Iterator
from fractions import Fraction
from heapq import heapify, heappop, heappush

from certree.extras.runtimes.model.chakra import CollectiveType, Node, NodeType, Trace
from certree.extras.training.model.workload import EVERYWHERE, MOST, Act, Communication, Layer, Loop, Part, Workload
from certree.models.common.errors import InputError, short
from certree.models.schedule.collective import CollectiveKind

_MICROSECONDS = Fraction(10**6)
_KINDS = {
    CollectiveType.ALL_REDUCE: CollectiveKind.ALL_REDUCE,
    CollectiveType.ALL_GATHER: CollectiveKind.ALL_GATHER,
    CollectiveType.ALL_TO_ALL: CollectiveKind.ALL_TO_ALL,
    CollectiveType.REDUCE_SCATTER: CollectiveKind.REDUCE_SCATTER,
    CollectiveType.REDUCE_SCATTER_BLOCK: CollectiveKind.REDUCE_SCATTER,
    CollectiveType.BROADCAST: CollectiveKind.BROADCAST,
}
_COMPUTES = (NodeType.COMPUTE, NodeType.LOAD, NodeType.STORE)


def trace_workload(trace: Trace, name: str, where: str) -> Workload:
    """The workload of one rank's trace, a layer for each node; every rank is taken to do the same. `comm_size` is taken for the
    bytes of the whole message.

    InputError for nodes that send and receive, computations without a duration, collectives of other kinds, and nodes that wait for
    each other in a circle. O((nodes + dependencies) log nodes).
    """
    nodes = [node for node in _ordered(trace, where) if node.type is not NodeType.METADATA]
    layers = tuple(Layer(node.name or str(node.id), _part(node, where), Part(), Part()) for node in nodes)
    if not layers:
        raise InputError(f"{where}: no node computes or communicates")
    return Workload(name, Loop.TRACE, _MICROSECONDS, layers, f"Chakra trace {name}", acts=tuple(_acts(nodes)))


def _part(node: Node, where: str) -> Part:
    what = f"{where}: node {node.id} ({short(node.name)})"
    if node.type in _COMPUTES:
        if not 0 < node.duration <= MOST:
            raise InputError(f"{what}: duration is {node.duration} microseconds; allowed: 1 to {MOST}")
        return Part(node.duration)
    if node.type is not NodeType.COLLECTIVE:
        raise InputError(f"{what} has type {node.type.name}; a trace of training has computations, loads, stores and collectives")
    number = node.number("comm_type", where, 0, max(CollectiveType))
    if number not in _KINDS:
        known = ", ".join(f"{int(kind)} ({kind.name})" for kind in _KINDS)
        raise InputError(f"{what}: comm_type is {number} ({CollectiveType(number).name}); allowed: {known}")
    group = node.attributes.get("pg_name", EVERYWHERE)
    if not isinstance(group, str):
        raise InputError(f"{what}: pg_name is {short(group)}; expected a text")
    size = node.number("comm_size", where, 1, MOST)
    return Part(0, Communication(_KINDS[CollectiveType(number)], size, group or EVERYWHERE))


def _ordered(trace: Trace, where: str) -> Iterator[Node]:
    """The nodes, each behind what it waits for, otherwise in the order of the file."""
    place = {node.id: number for number, node in enumerate(trace.nodes)}
    followers: list[list[int]] = [[] for _ in trace.nodes]
    open_waits = [len(node.waits) for node in trace.nodes]
    for number, node in enumerate(trace.nodes):
        for other in node.waits:
            if other not in place:
                raise InputError(f"{where}: node {node.id} ({short(node.name)}) waits for node {other}, which is not there")
            followers[place[other]].append(number)
    ready = [number for number, count in enumerate(open_waits) if not count]
    heapify(ready)
    done = 0
    while ready:
        number = heappop(ready)
        done += 1
        yield trace.nodes[number]
        for follower in followers[number]:
            open_waits[follower] -= 1
            if not open_waits[follower]:
                heappush(ready, follower)
    if done < len(trace.nodes):
        stuck = next(node for number, node in enumerate(trace.nodes) if open_waits[number])
        raise InputError(f"{where}: node {stuck.id} ({short(stuck.name)}) waits for itself, in a circle")


def _acts(nodes: list[Node]) -> Iterator[tuple[Act, int]]:
    """Waits stand before the first node that needs a collective, those that nothing needs at the end."""
    under_way: dict[int, int] = {}
    for number, node in enumerate(nodes):
        for other in node.waits:
            if other in under_way:
                yield Act.WAIT, under_way.pop(other)
        if node.type is NodeType.COLLECTIVE:
            yield Act.ASK, number
            under_way[node.id] = number
        else:
            yield Act.COMPUTE, number
    yield from ((Act.WAIT, number) for number in under_way.values())
