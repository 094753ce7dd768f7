"""Reports on blocked networks: packets that wait for each other, move forever, or wait while others pass."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from certree.hw.routers.network import INTERFACE, RouterNetwork

REPORTED = 16
ANY_VC = 0xFFFFFFFF

#: packet, router, channel that it came by, VC of it, channel that it wants, VC that it holds of it (or ANY_VC)
Blocked = tuple[int, int, int, int, int, int]
#: traffic class, number, destination, place, first cycle, cycles, flits of others that passed
Starved = tuple[int, int, int, Blocked, int, int, int]


def describe_blockage(network: RouterNetwork, blocked: Sequence[Blocked], names: NDArray[np.int64]) -> tuple[str, ...]:
    """One line for each packet of a cycle in which each packet waits for the next; `names` are the ids of the packets.

    Without such a cycle, the first blocked packets. O(blocked).
    """
    circle = _circle(blocked)
    lines = [_line(network, entry, names) for entry in (circle or list(blocked))[:REPORTED]]
    left = len(circle or blocked) - len(lines)
    if left > 0:
        lines.append(f"and {left} more packets wait")
    if circle:
        lines.append("the last of these waits for the first")
    return tuple(lines)


def describe_lost(lost: tuple[int, int, int, int], names: NDArray[np.int64]) -> tuple[str, ...]:
    """A line on a packet that moves forever and never arrives; empty without one (packet -1)."""
    packet, router, destination, passed = lost
    if packet < 0:
        return ()
    where = f"is at node {router} after {passed} routers, more than there are"
    return (f"packet {names[packet]} to node {destination} {where}: its route is a cycle",)


def describe_starved(
    network: RouterNetwork, starved: Sequence[Starved], count: int, name: Callable[[Starved], str]
) -> tuple[str, ...]:
    """A line for each packet that waited too long while others passed, the longest waits first; `count` of them in all.

    `name` calls a packet by its name. O(starved log starved).
    """
    lines = []
    for entry in sorted(starved, key=lambda entry: (-entry[5], entry[4]))[:REPORTED]:
        _, router, channel, vc, wanted, held = entry[3]
        need = "a free virtual channel" if held == ANY_VC else f"its turn on virtual channel {held}"
        place = "" if router == INTERFACE else f" at node {router}, virtual channel {vc} of {network.describe_channel(channel)},"
        wait = f"waited {entry[5]:,} cycles from {entry[4]:,} on for {need} of {network.describe_channel(wanted)}"
        lines.append(f"{name(entry)}{place} {wait}, which carried {entry[6]:,} flits of others")
    if count > len(lines):
        lines.append(f"and {count - len(lines):,} more waits like these")
    return tuple(lines)


def _line(network: RouterNetwork, entry: Blocked, names: NDArray[np.int64]) -> str:
    packet, router, channel, vc, wanted, held = entry
    need = "a free virtual channel" if held == ANY_VC else f"a place in virtual channel {held}"
    if router == INTERFACE:
        return f"packet {names[packet]} in {network.describe_channel(channel)} waits for {need} there"
    place = f"at node {router}, virtual channel {vc} of {network.describe_channel(channel)},"
    return f"packet {names[packet]} {place} waits for {need} of {network.describe_channel(wanted)}"


def _circle(blocked: Sequence[Blocked]) -> list[Blocked]:
    """Packets in routers that wait for each other in a cycle; empty without one.

    One that holds a VC waits for the packet in front of the buffer at its other end; one that wants a VC of a channel waits for
    the packets whose VCs those are, or, where all VCs are free and too full, for those in front of their buffers.
    """
    by_buffer = {(entry[2], entry[3]): entry for entry in blocked if entry[1] != INTERFACE}
    holders: dict[int, list[Blocked]] = {}
    for entry in by_buffer.values():
        if entry[5] != ANY_VC:
            holders.setdefault(entry[4], []).append(entry)
    for entry in by_buffer.values():
        holders.setdefault(entry[2], []).append(entry)
    done: set[Blocked] = set()
    for start in by_buffer.values():
        path: list[Blocked] = []
        at: Blocked | None = start
        while at is not None and at not in done:
            if at in path:
                return path[path.index(at) :]
            path.append(at)
            at = _awaited(at, by_buffer, holders)
        done.update(path)
    return []


def _awaited(entry: Blocked, by_buffer: dict[tuple[int, int], Blocked], holders: dict[int, list[Blocked]]) -> Blocked | None:
    if entry[5] != ANY_VC:
        return by_buffer.get((entry[4], entry[5]))
    return next(iter(holders.get(entry[4], [])), None)
