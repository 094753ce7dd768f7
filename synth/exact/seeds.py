"""Schedules from which a frontier search starts: those of published algorithms, with which its result is also compared, symmetric
ones, and sums as copies backwards in time."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.models.common.errors import InputError, UnsupportedError
from certree.models.machine.machine import load_machine
from certree.models.network.routing import DIRECT
from certree.models.network.topology import Topology
from certree.models.schedule.collective import Collective, CollectiveKind
from certree.models.schedule.schedule import Schedule, make_schedule
from certree.models.schedule.schedule_columns import NO_ROOT, Op
from certree.models.schedule.symmetric.symmetric_schedule import written_out
from certree.synth.method import METHODS, Request, load_methods
from certree.synth.monitor import Monitor
from certree.synth.phases import links_back
from certree.synth.symmetric.layered import layered_schedule
from certree.synth.symmetric.translations import cayley_of

#: collectives that add up, and the copying ones whose schedules they are backwards in time
REVERSED = {CollectiveKind.REDUCE_SCATTER: CollectiveKind.ALL_GATHER, CollectiveKind.REDUCE: CollectiveKind.BROADCAST}


def known_schedules(topology: Topology, collective: Collective, monitor: Monitor) -> dict[str, Schedule]:
    """The schedule of every published algorithm that covers the network and the collective, by name of the method.

    Methods that need a size get 1 MiB and the machine `multitree`; these are not recorded, since a frontier is about steps and
    rounds only. Stops early when the monitor's time is up.
    """
    request = Request(topology, collective, 1 << 20, load_machine("multitree"), monitor=monitor.watching())
    methods, made = load_methods(), dict[str, Schedule]()
    for name in methods:
        if not methods[name].published or monitor.expired:
            continue
        try:
            made[name] = replace(written_out(methods[name](request)), made_for=None)
        except InputError:  # UnsupportedError and other errors for requests that a method does not cover
            continue
    return made


def symmetric_schedules(topology: Topology, collective: Collective, most_chunks: int, monitor: Monitor) -> Iterator[Schedule]:
    """Schedules of method symmetric with 1 to `most_chunks` chunks per node at delay 1; none where unsupported.

    For an all-gather, schedules with the fewest steps, of several rounds each, are included (`synth.symmetric.layered`).
    """
    load_methods()
    if collective.kind is CollectiveKind.ALL_GATHER:
        yield from _layered(topology, most_chunks, monitor)
    for chunks in range(1, most_chunks + 1):
        if monitor.expired:
            return
        asked = chunks * len(topology.endpoints)
        request = Request(
            topology,
            collective,
            1 << 20,
            load_machine("multitree"),
            chunks=asked,
            options={"delay": "1"},
            monitor=monitor.watching(),
        )
        try:
            yield replace(written_out(METHODS["symmetric"](request)), made_for=None)
        except InputError:  # UnsupportedError among them
            return


def _layered(topology: Topology, most_chunks: int, monitor: Monitor) -> Iterator[Schedule]:
    try:
        cayley = cayley_of(topology)
    except UnsupportedError:
        return
    for chunks in range(1, most_chunks + 1):
        if monitor.expired:
            return
        if (made := layered_schedule(cayley, chunks)) is not None:
            yield made


def mirrored(topology: Topology, collective: Collective) -> tuple[Topology, Collective] | None:
    """The network with all links reversed, and the corresponding copying collective; None for one not in REVERSED."""
    if collective.kind not in REVERSED:
        return None
    turned = topology if links_back(topology) is not None else replace(topology, src=topology.dst, dst=topology.src)
    return turned, Collective(REVERSED[collective.kind], collective.root)


def backwards(schedule: Schedule, topology: Topology, collective: Collective) -> Schedule:
    """The sums of `collective` on `topology` along the transfers of a copying schedule of the mirrored request, last ones first.

    Of the transfers that bring a chunk to a node only the first to arrive is kept. These lead from the root to every node, so
    backwards each node sends its partial sum once, to the node from which it got the chunk. O(rows log rows).
    """
    order = np.lexsort((np.arange(schedule.transfers), schedule.step))
    cell = schedule.dst.astype(np.int64) * schedule.chunks + schedule.chunk
    rows = np.sort(order[np.unique(cell[order], return_index=True)[1]])
    rows = rows[schedule.dst[rows] != schedule.chunk_root[schedule.chunk[rows]]]
    twin = links_back(topology)
    number = np.arange(len(topology.src)) if twin is None else twin
    return replace(
        schedule,
        topology=topology,
        collective=collective,
        rounds=schedule.rounds[::-1].copy(),
        chunk=schedule.chunk[rows],
        op=np.full(len(rows), Op.REDUCE, np.int8),
        step=(schedule.steps - 1 - schedule.step[rows]).astype(np.int32),
        src=schedule.dst[rows],
        dst=schedule.src[rows],
        route=schedule.route[rows] if schedule.routes else np.full(len(rows), DIRECT, np.int32),
        routes=tuple(tuple(int(number[link]) for link in reversed(route)) for route in schedule.routes),
        certificate=None,
    )


def composed(gather: Schedule) -> list[Schedule]:
    """An all-reduce: the reversed all-gather, then the all-gather. None without links in both directions, and for routes."""
    topology = gather.topology
    if not topology.is_full_duplex or (gather.route != DIRECT).any():
        return []
    steps = gather.steps
    columns: dict[str, NDArray[Any]] = {
        "chunk": np.concatenate((gather.chunk, gather.chunk)),
        "op": np.concatenate((np.full(gather.transfers, Op.REDUCE), np.full(gather.transfers, Op.COPY))).astype(np.int8),
        "step": np.concatenate((steps - 1 - gather.step, steps + gather.step)),
        "src": np.concatenate((gather.dst, gather.src)),
        "dst": np.concatenate((gather.src, gather.dst)),
    }
    rounds = np.concatenate((gather.rounds[::-1], gather.rounds))
    collective = Collective(CollectiveKind.ALL_REDUCE)
    return [make_schedule(topology, collective, [NO_ROOT] * gather.chunks, columns, rounds=rounds)]
