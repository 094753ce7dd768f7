"""Rules `self`, `link` and `write-conflict`: checks of rows before their effects are computed."""

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from certree.models.common.columns import have_common
from certree.models.common.errors import InputError
from certree.models.network.routing import DIRECT
from certree.models.network.topology import NodeKind
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op
from certree.verify.rule import Stage, check, rule
from certree.verify.verdict import Findings
from certree.verify.wording import buffer_text, list_text, network_text, row_text

Flags = NDArray[np.bool_]
Int64 = NDArray[np.int64]


def executable_rows(schedule: Schedule) -> Flags:
    """Flags of the executable rows: those between two different nodes that hold data, endpoints or reducing switches, or between
    two buffers of one endpoint.

    A row without its link is still executed, so that one fault is not reported as many.
    """
    holds = schedule.topology.holds
    flags: Flags = ~stays(schedule)
    if not holds.all():
        flags &= holds[schedule.src] & holds[schedule.dst]
    return flags if schedule.buffers == 1 else flags & ~_lacks_buffer(schedule)


def stays(schedule: Schedule) -> Flags:
    """Which rows end where they start: at the same node, and in the same buffer."""
    same = schedule.src == schedule.dst
    return np.asarray(same if schedule.src_buffer is None else same & (schedule.src_buffer == schedule.dst_buffer))


def _lacks_buffer(schedule: Schedule) -> Flags:
    """Which rows read or write a scratch buffer of a node that is not an endpoint."""
    lacks = np.zeros(schedule.transfers, np.bool_)
    for node, buffer in ((schedule.src, schedule.src_buffer), (schedule.dst, schedule.dst_buffer)):
        if buffer is not None:
            lacks |= (buffer > 0) & (schedule.topology.kind[node] == NodeKind.SWITCH)
    return lacks


@check(stage=Stage.WIRING, base_suffices=True)
@rule(
    "self",
    "a transfer ends where it starts, in the same buffer",
    "mesh:1x3 broadcast@1: copy 0 1>0 @0; copy 0 1>2 @0; copy 0 1>1 @1",
)
@rule(
    "link",
    "there is no such link; an end is a removed node, a switch that does not reduce, or a scratch buffer of a switch; a route has "
    "a gap, leads elsewhere, passes a link or visits a node twice or, in a network with switches, passes an endpoint (on a direct "
    "network each has a router that forwards)",
    "mesh:1x3 all-reduce: reduce 0 0>2 @0; reduce 0 1>2 @0; copy 0 2>1 @1; copy 0 1>0 @2",
)
def check_wiring(schedule: Schedule, findings: Findings) -> None:
    """Report rows without a valid link or route. O(rows + hops of all routes)."""
    topology, executable, still = schedule.topology, executable_rows(schedule), stays(schedule)
    _report(schedule, findings, "self", still, lambda row: "sends to itself")
    _report(schedule, findings, "link", ~still & ~executable, lambda row: _wrong_end(schedule, row))
    unlinked = executable & (schedule.route == DIRECT) & (schedule.pair < 0) & (schedule.src != schedule.dst)
    _report(
        schedule,
        findings,
        "link",
        unlinked,
        lambda row: f"{network_text(topology)} has no link {schedule.src[row]}>{schedule.dst[row]}",
    )
    _check_routes(schedule, findings, executable)


def require_wired(schedule: Schedule) -> None:
    """Raise InputError with the first row that has no valid link or route."""
    findings = Findings()
    check_wiring(schedule, findings)
    if broken := findings.verdict().violations:
        raise InputError(f"the schedule for {network_text(schedule.topology)}: {broken[0].message}")


def _report(schedule: Schedule, findings: Findings, rule: str, broken: Flags, reason: Callable[[int], str]) -> None:
    rows = np.flatnonzero(broken)
    rows = rows[np.argsort(schedule.step[rows], kind="stable")]

    def tell(row: int) -> tuple[int, tuple[int, ...], str]:
        step = int(schedule.step[row])
        return step, (row,), f"step {step}: {row_text(schedule, row)}: {reason(row)}"

    findings.add_each(rule, rows.tolist(), tell)


def _wrong_end(schedule: Schedule, row: int) -> str:
    topology = schedule.topology
    for node in (int(schedule.src[row]), int(schedule.dst[row])):
        if topology.kind[node] == NodeKind.ABSENT:
            return f"{network_text(topology)} has no node {node}"
        if not topology.holds[node]:
            return f"node {node} is a switch that only forwards: it keeps nothing, and has its place inside routes"
    for column, buffer in ((schedule.src, schedule.src_buffer), (schedule.dst, schedule.dst_buffer)):
        if buffer is not None and buffer[row] and topology.kind[column[row]] == NodeKind.SWITCH:
            return f"node {column[row]} is a switch: it has one accumulator, and no buffer {buffer[row]}"
    raise AssertionError(f"row {row} runs between nodes that hold data")


def _check_routes(schedule: Schedule, findings: Findings, executable: Flags) -> None:
    """Check that a route is a chain of links from src to dst that comes to no link and no node twice; what lies between forwards: a
    switch, reducing or not, or any node of a direct network. No link ends at a removed node, so no route passes one."""
    if not schedule.routes:
        return
    topology = schedule.topology
    links, start = schedule.flat_routes
    tail, head = topology.src[links], topology.dst[links]
    route_of = np.repeat(np.arange(len(schedule.routes)), np.diff(start))
    inner = np.flatnonzero(route_of[1:] == route_of[:-1])  # position of each link that another one follows
    gap, halt, again, loop = (np.zeros(len(schedule.routes), np.bool_) for _ in range(4))
    gap[route_of[inner[head[inner] != tail[inner + 1]]]] = True
    halt[route_of[inner[~topology.forwards[head[inner]]]]] = True
    nodes = len(topology.kind)
    visits = np.sort(np.concatenate((route_of * nodes + head, np.arange(len(schedule.routes)) * nodes + tail[start[:-1]])))
    loop[visits[1:][np.diff(visits) == 0] // nodes] = True
    if loop.any():  # a link that is passed twice leads to a node twice
        passed = np.sort(route_of * len(topology.pair_capacity) + topology.pair_of_link[links])
        again[passed[1:][np.diff(passed) == 0] // len(topology.pair_capacity)] = True
    route = np.maximum(schedule.route, 0)
    ends = (tail[start[:-1]][route] != schedule.src) | (head[start[1:] - 1][route] != schedule.dst)

    def reason(words: str, row: int) -> str:
        path = [f"{topology.src[link]}>{topology.dst[link]}" for link in schedule.routes[schedule.route[row]]]
        return f"its route {words}: {list_text(path)}"

    open_rows = executable & (schedule.route != DIRECT)
    for broken, words in (
        (gap[route], "is broken"),
        (ends, "leads elsewhere"),
        (again[route], "passes a link twice, so that its messages may wait for themselves"),
        (halt[route], "passes an endpoint, and only switches forward here"),
        (loop[route], "comes to a node twice"),
    ):
        _report(schedule, findings, "link", open_rows & broken, partial(reason, words))
        open_rows &= ~broken


@rule(
    "write-conflict",
    "a copy and another transfer reach a cell at once",
    "ring:3 broadcast@0: copy 0 0>1 @0; copy 0 0>2 @1; copy 0 1>2 @1",
)
def check_writes(schedule: Schedule, findings: Findings, executable: Flags) -> Flags:
    """Report cells that a copy and another transfer reach at once; returns the executable rows, of each conflict only the first.

    Transfers sent in one step land in one step, so rows with the same step, destination and chunk land together. Iterations have
    separate chunks and cannot meet in a cell. O(rows log rows).
    """
    rows = np.flatnonzero(executable)
    if not _copies_meet(schedule, rows):
        return executable
    into = schedule.dst if schedule.dst_buffer is None else schedule.dst.astype(np.int64) * schedule.buffers + schedule.dst_buffer
    order = rows[np.lexsort((rows, into[rows], schedule.chunk[rows], schedule.step[rows]))]
    columns = np.stack([schedule.step[order], schedule.chunk[order], into[order]])
    first = np.ones(len(order), np.bool_)
    first[1:] = (columns[:, 1:] != columns[:, :-1]).any(axis=0)
    starts = np.flatnonzero(first)
    sizes = np.diff(np.append(starts, len(order)))
    copies = np.add.reduceat((schedule.op[order] == Op.COPY).astype(np.int64), starts) if len(starts) else starts
    bad = np.flatnonzero((copies > 0) & (sizes > 1))

    def tell(group: int) -> tuple[int, tuple[int, ...], str]:
        together = order[starts[group] : starts[group] + sizes[group]].tolist()
        step = int(schedule.step[together[0]])
        where = f"chunk {schedule.chunk[together[0]]} of {buffer_text(schedule, together[0])}"
        which = list_text([row_text(schedule, row) for row in together], " and ")
        what = "several copies" if copies[group] == sizes[group] else "a copy and a reduce"
        return step, tuple(together), f"step {step}: {what} reach {where} at once: {which}"

    findings.add_each("write-conflict", bad.tolist(), tell)
    executed = executable.copy()
    in_conflict = np.repeat(np.isin(np.arange(len(starts)), bad), sizes)
    executed[order[in_conflict & ~first]] = False
    return executed


def _copies_meet(schedule: Schedule, rows: Int64) -> bool:
    """Whether a copy and another transfer may reach a cell at once: false only when none does. Faster than finding which."""
    nodes = len(schedule.topology.kind)
    if nodes * schedule.chunks * schedule.steps * schedule.buffers >= 1 << 62:
        return True
    cell = (schedule.step[rows] * np.int64(schedule.chunks) + schedule.chunk[rows]) * nodes + schedule.dst[rows]
    if schedule.dst_buffer is not None:
        cell = cell * schedule.buffers + schedule.dst_buffer[rows]
    is_copy = schedule.op[rows] == Op.COPY
    copies, reduces = np.sort(cell[is_copy]), cell[~is_copy]
    return bool((copies[1:] == copies[:-1]).any()) or (len(reduces) > 0 and have_common(copies, reduces))
