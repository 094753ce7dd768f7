"""Data of the interactive view of a schedule: network, channels, transfers, and shares in use where there are too many of these."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.extras.reports.explorer.packing import packed
from certree.extras.reports.pictures.ground import Ground, is_drawn
from certree.extras.reports.pictures.schedules.spacetime import shares
from certree.extras.reports.pictures.schedules.trees import roots_of
from certree.extras.reports.pictures.schedules.uses import Uses, load_of, shown_of, uses_of
from certree.extras.reports.pictures.svg import Sheet
from certree.models.fine.timed_schedule import round_cycles
from certree.models.network.topology import NodeKind, Topology
from certree.models.schedule.made_for import MadeFor
from certree.models.schedule.schedule import Schedule, make_schedule
from certree.models.schedule.schedule_columns import MAX_CHUNKS
from certree.models.schedule.symmetric.symmetric_schedule import MAX_TRANSFERS, AnySchedule, SymmetricSchedule
from certree.verify.verdict import Verdict

MOST_TRANSFERS, MOST_USES = 250_000, 1_000_000  # that a page has one by one; of more, those of the first chunks
MOST_COLUMNS = 400  # of the shares in use
SHARE = 100  # shares are written in hundredths
Document = dict[str, Any]


def viewer_document(schedule: AnySchedule, used: MadeFor, verdict: Verdict) -> Document:
    """The document that `assets/model.js` reads, with the transfers of the first violation of the verdict. `left_out` says in words
    what is not in it. O(uses) time."""
    whole, left_out = _whole(schedule)
    uses = uses_of(whole)
    kept, chunks = _kept(whole, uses)
    if len(kept) < schedule.transfers:
        shown = f"those of chunks 0 to {chunks - 1}" if chunks > 1 else "those of chunk 0" if chunks else "none"
        left_out.append(
            f"{schedule.transfers:,} transfers per iteration are too many for a page: one by one there are {shown} ({len(kept):,});"
            " the shares of channels in use count all of them"
        )
    topology = schedule.topology
    unit = round_cycles(schedule, used.message_bytes, used.machine)
    return {
        "name": f"{schedule.collective.words} on {topology.name}",
        "chunks": schedule.chunks,
        "steps": schedule.steps,
        "total_steps": schedule.total_steps,
        "period": schedule.period if schedule.repeats > 1 else None,
        "repeats": schedule.repeats,
        "delay": schedule.delay,
        "rounds": None if (schedule.rounds == 1).all() else schedule.rounds.tolist(),
        "slot_cycles": unit,
        **_network(topology, left_out),
        "load": [round(SHARE * share) for share in load_of(whole).tolist()],
        **_transfers(whole, uses, kept, verdict.violations[0].rows if verdict.violations else ()),
        "roots": _roots(whole, chunks),
        "aggregate": None if len(kept) == schedule.transfers else _aggregate(whole, uses),
        "left_out": left_out,
    }


def _whole(schedule: AnySchedule) -> tuple[Schedule, list[str]]:
    """The schedule with all its transfers, or, where there are too many, the images of the base chunks at node 0."""
    if not isinstance(schedule, SymmetricSchedule):
        return schedule, []
    if schedule.transfers <= MAX_TRANSFERS:
        return schedule.written_out(), []
    base = schedule.base
    columns = {name: getattr(base, name) for name in ("op", "step", "src", "dst", "route")}
    columns["chunk"] = base.chunk * np.int32(schedule.nodes)
    some = make_schedule(
        schedule.topology, schedule.collective, schedule.chunk_root, columns, rounds=base.rounds, delay=base.delay
    )  # fmt: skip
    return some, [f"loads and shares are those of the {base.chunks} chunks of node 0; the other nodes' are their images"]


def _kept(schedule: Schedule, uses: Uses) -> tuple[NDArray[np.int64], int]:
    """The rows that the page has: all, or those of as many first chunks as fit; and the number of these chunks."""
    if schedule.transfers <= MOST_TRANSFERS and len(uses.row) <= MOST_USES:
        return np.arange(schedule.transfers), schedule.chunks
    rows, used = (
        np.cumsum(np.bincount(of, minlength=min(schedule.chunks, MAX_CHUNKS))) for of in (schedule.chunk, schedule.chunk[uses.row])
    )
    chunks = min(int(np.searchsorted(rows, MOST_TRANSFERS, side="right")), int(np.searchsorted(used, MOST_USES, side="right")))
    return np.flatnonzero(schedule.chunk < chunks), chunks


def _network(topology: Topology, left_out: list[str]) -> Document:
    """Nodes (id, x, y, kind, name), radius, channels (source, destination, capacity, points)."""
    ends = zip(topology.pair_src.tolist(), topology.pair_dst.tolist(), topology.pair_capacity.tolist(), strict=True)
    channels = [[source, destination, str(topology.speed(capacity))] for source, destination, capacity in ends]
    if not is_drawn(topology):
        left_out.append(f"{len(topology.kind):,} nodes and {len(channels):,} channels are too many for a picture of the network")
        return {"nodes": [], "radius": 0, "channels": channels}
    ground = Ground(Sheet(), topology)
    nodes = []
    for node in np.flatnonzero(topology.kind != NodeKind.ABSENT).tolist():
        x, y = ground.point(node)
        nodes.append([node, round(x, 1), round(y, 1), int(topology.kind[node]), ground.name(node)])
    for pair, channel in enumerate(channels):
        channel.append([round(value, 1) for point in ground.channel_points(pair) for value in point])
    return {"nodes": nodes, "radius": ground.radius, "channels": channels}


def _transfers(schedule: Schedule, uses: Uses, kept: NDArray[np.int64], wrong: tuple[int, ...]) -> Document:
    """Columns of the transfers, and of their uses of channels (`use_row`: position among the transfers of the page)."""
    place = np.full(schedule.transfers, -1, np.int64)
    place[kept] = np.arange(len(kept))
    mine = np.flatnonzero(place[uses.row] >= 0)
    mine = mine[np.lexsort((uses.pair[mine], uses.round[mine]))]
    return {
        "row": None if len(kept) == schedule.transfers else packed(kept),
        "wrong": sorted({int(place[row]) for row in wrong if 0 <= row < schedule.transfers and place[row] >= 0}),
        **{name: packed(getattr(schedule, name)[kept]) for name in ("chunk", "op", "step", "src", "dst")},
        "use_row": packed(place[uses.row[mine]]),
        "use_channel": packed(uses.pair[mine]),
        "use_hop": packed(uses.hop[mine]) if uses.hop.any() else None,
        "use_round": packed(uses.round[mine]),
        "use_length": packed(uses.length[mine]) if (uses.length != 1).any() else None,
        "use_lane": packed(uses.lane[mine]),
        "misfits": np.flatnonzero(~uses.fits[mine]).tolist(),
    }


def _roots(schedule: Schedule, chunks: int) -> list[list[int]]:
    """The roots of the chunks that the page has; none where finding them would take long."""
    if chunks * schedule.transfers > 1 << 27:
        return []
    return [roots_of(schedule, chunk) for chunk in range(chunks)]


def _aggregate(schedule: Schedule, uses: Uses) -> Document:
    """Shares in use of the capacity out of nodes, or groups of nodes, over the columns of the whole picture."""
    shown = shown_of(schedule)
    columns = min(MOST_COLUMNS, shown.columns)
    names, busy = shares(schedule, uses, shown, columns)
    return {"rows": names, "rounds": shown.columns, "busy": np.rint(SHARE * busy).astype(int).tolist()}
