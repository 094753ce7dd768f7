"""Cycle-accurate simulator core (C++, `hw/core`)."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

class Run:
    """One run of a set of tables; `cells` is the memory of all nodes and is changed in place."""

    def __init__(
        self,
        scalars: Mapping[str, int],
        columns: Mapping[str, NDArray[np.uint32]],
        engine: str,
        mode: str,
        cells: NDArray[np.uint64],
        traced: bool,
    ) -> None: ...
    def advance(self, budget: int) -> bool:
        """Run for about `budget` flit moves (lanes) or events (fast); returns whether the run has ended."""
    @property
    def cycle(self) -> int:
        """The current time."""
    @property
    def is_deadlocked(self) -> bool:
        """Whether the run ended because nothing could change any more."""
    def statistics(self) -> dict[str, int]:
        """Counters of the run so far."""
    def waiting(self) -> list[tuple[int, int, int, int]]:
        """(node, row or -1, iteration, arrival or -1) of every node that is not done."""
    def trace(self) -> list[tuple[int, int, int, int, int, int, int, int]]:
        """(row, iteration, destination, fired, first, complete, usable) of every message that counted, and its number."""
    def hops(self) -> list[tuple[int, int, int]]:
        """(message, lane, start) of every lane that a message got."""

class PacketRun:
    """Explicit packets through a network of routers, as columns of `network_layout.hpp` and `packet_run.hpp`."""

    def __init__(
        self, scalars: Mapping[str, int], columns: Mapping[str, NDArray[np.integer]], packets: Mapping[str, NDArray[np.integer]]
    ) -> None: ...
    def advance(self, budget: int) -> bool:
        """Run for about `budget` cycles; returns whether the run has ended."""
    @property
    def cycle(self) -> int:
        """The current time."""
    @property
    def is_deadlocked(self) -> bool:
        """Whether the run ended because nothing could move any more."""
    def heads(self) -> NDArray[np.uint64]:
        """When the first flit of each packet was received; all ones: never."""
    def tails(self) -> NDArray[np.uint64]:
        """When the last flit of each packet was received; all ones: never."""
    def counters(self) -> dict[str, int]:
        """Counters of the run so far."""
    def lost(self) -> tuple[int, int, int, int]:
        """(packet, router where it is, destination, routers that it has passed) of a packet that never arrives; -1 without one."""
    def blocked(self) -> list[tuple[int, int, int, int, int, int]]:
        """(packet, router, channel, VC, wanted channel, VC held of it) of everything that cannot go on."""
    def watch(self, bound: int) -> None:
        """From now on look for packets that wait for so many cycles or longer while others pass."""
    @property
    def starved_count(self) -> int:
        """How many there were."""
    def starved(self) -> list[tuple[int, int, int, tuple[int, int, int, int, int, int], int, int, int]]:
        """(class, number, destination, place as in `blocked`, first cycle, cycles, flits of others) of the first of them."""

class PacketStepper:
    """A network of routers, as columns of `network_layout.hpp`, whose packets are decided on as it goes."""

    def __init__(self, scalars: Mapping[str, int], columns: Mapping[str, NDArray[np.integer]]) -> None: ...
    def send(self, injector: int, destination: int, flits: int, route: int, priority: int) -> int:
        """A packet that may leave from now on; returns its number, which others may have once it has been received."""
    def advance(self, until: int = ...) -> None:
        """Go on to the cycle in which the next packet is received whole, or to `until`; without it, when nothing is under way any
        more, to the cycle behind the last event."""
    @property
    def cycle(self) -> int:
        """The current time."""
    @property
    def is_idle(self) -> bool:
        """Whether nothing is under way, credits included."""
    def received(self) -> list[int]:
        """Numbers of the packets received whole at the start of this cycle."""
    def backlog(self, injector: int) -> int:
        """Flits of an injector's packets that have not left it."""

class FlitRun:
    """Tables on a network of routers; `cells` is the memory of all nodes and is changed in place."""

    def __init__(
        self,
        scalars: Mapping[str, int],
        rows: Mapping[str, NDArray[np.uint32]],
        network_scalars: Mapping[str, int],
        network: Mapping[str, NDArray[np.integer]],
        plan: Mapping[str, NDArray[np.integer]],
        others: Mapping[str, NDArray[np.integer]],
        mode: str,
        cells: NDArray[np.uint64],
        traced: bool,
    ) -> None: ...
    def advance(self, budget: int) -> bool:
        """Run for about `budget` cycles; returns whether the run has ended."""
    @property
    def cycle(self) -> int:
        """The current time."""
    @property
    def is_deadlocked(self) -> bool:
        """Whether the run ended because nothing could change any more."""
    def statistics(self) -> dict[str, int]:
        """Counters of the run so far."""
    def waiting(self) -> list[tuple[int, int, int, int]]:
        """(node, row or -1, iteration, arrival or -1) of every node that is not done."""
    def lost(self) -> tuple[int, int, int, int]:
        """(packet, router where it is, destination, routers that it has passed) of a packet that never arrives; -1 without one."""
    def blocked(self) -> list[tuple[int, int, int, int, int, int]]:
        """(packet, router, channel, VC, wanted channel, VC held of it) of everything that cannot go on."""
    def watch(self, bound: int) -> None:
        """From now on look for packets that wait for so many cycles or longer while others pass."""
    @property
    def starved_count(self) -> int:
        """How many there were."""
    def starved(self) -> list[tuple[int, int, int, tuple[int, int, int, int, int, int], int, int, int]]:
        """(class, number, destination, place as in `blocked`, first cycle, cycles, flits of others) of the first of them."""
    def trace(self) -> list[tuple[int, int, int, int, int, int, int, int]]:
        """(row, iteration, destination, fired, first, complete, usable) of every message that counted, and its number."""
    def link_uses(self) -> list[tuple[int, int, int, int, int]]:
        """(class, number, channel, start, flits) of every stretch of consecutive flits of a message or packet over a link; classes
        are 0 for the collective, where `number` is that of the message, and 1 for other packets, in the order of their columns."""

class AggregationRun:
    """Reducing switches at work, columns of `aggregation_layout.hpp`; `cells` is the memory of all hosts, changed in place."""

    def __init__(
        self,
        scalars: Mapping[str, int],
        columns: Mapping[str, NDArray[np.integer]],
        network_scalars: Mapping[str, int] | None,
        network: Mapping[str, NDArray[np.integer]] | None,
        cells: NDArray[np.uint64],
        traced: bool,
    ) -> None: ...
    def advance(self, budget: int) -> bool:
        """Run for about `budget` events; returns whether the run has ended."""
    @property
    def cycle(self) -> int:
        """The current time."""
    def counters(self) -> dict[str, int]:
        """Counters of the run so far."""
    def switches(self) -> list[tuple[int, int, int, int, int]]:
        """(node, most aggregators in use, cycles of aggregators in use, most payloads, dropped ones) of every switch."""
    def trace(self) -> list[tuple[int, int, bool, int, int, int, int, bool, int]]:
        """(time, event, is_up, edge, number, place works on, arrived, has_result, answer), the last four after add and pass."""
    def stall(self) -> list[int]:
        """(flow, host, number, times sent, switch or -1, what its place works on); empty when the run has not stalled."""
    def blocked(self) -> list[tuple[int, int, int, int, int, int]]:
        """(packet, router, channel, VC, wanted channel, VC held of it) of packets in routers that can never move again."""
    def waiting(self) -> list[list[int]]:
        """(flow, host, oldest packet without a result) of every host that waits."""

class EndpointRun:
    """A collective by the endpoints; `cells` is the data of all chunks and is changed in place."""

    def __init__(
        self, scalars: Mapping[str, int], columns: Mapping[str, NDArray[Any]], cells: NDArray[np.uint64], traced: bool
    ) -> None: ...
    def advance(self, budget: int) -> bool:
        """Run for about `budget` events; returns whether the run has ended."""
    @property
    def cycle(self) -> int:
        """The current time."""
    @property
    def is_stalled(self) -> bool:
        """Whether nothing could go on any more."""
    @property
    def is_empty(self) -> bool:
        """Whether nothing is left anywhere: no message, no room or place taken, no chunk queued."""
    def counters(self) -> dict[str, Any]:
        """Sums over all nodes; (sum, number) of delays."""
    def waiting(self) -> list[tuple[int, int, int, int, int]]:
        """(node, reason, chunk, phase, row) of whatever does not go on."""
    def moves(self) -> list[tuple[int, int, int, int, int, int]]:
        """(cycle, node, chunk, move, row taken, row sent) of a traced run."""
