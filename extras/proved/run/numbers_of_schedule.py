"""A schedule as the whole numbers that `specs/proved/driver.ml` reads."""

import numpy as np
from numpy.typing import NDArray

from certree.models.forms.lowering_chain import takes
from certree.models.network.topology import NodeKind, Topology
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule, written_out

_EVERYONE = -1
_ENDPOINT, _REDUCING, _FORWARDING, _ABSENT = range(4)
#: the collectives by the numbers of the driver; an alltoallv is 4
_NUMBERS = {
    CollectiveKind.ALL_REDUCE: 0,
    CollectiveKind.REDUCE_SCATTER: 1,
    CollectiveKind.ALL_GATHER: 2,
    CollectiveKind.ALL_TO_ALL: 3,
    CollectiveKind.BROADCAST: 5,
    CollectiveKind.REDUCE: 6,
    CollectiveKind.GATHER: 7,
    CollectiveKind.SCATTER: 8,
}
_ALLTOALLV = 4


def covered(schedule: AnySchedule) -> Schedule:
    """The schedule, a symmetric one written out; UnsupportedError for fine slots, of which the proved checker knows nothing."""
    plan = written_out(schedule)
    takes("the proved checker", "buffers", "virtual_channel", "members", "demand").require(plan)
    return plan


def numbers_of(plan: Schedule) -> bytes:
    """A schedule that is covered as text for the driver; transfers in the order of their steps. O(transfers log transfers + nodes +
    links)."""
    order = np.argsort(plan.step, kind="stable")
    zero = np.zeros(plan.transfers, np.int32)
    columns = (
        plan.step,
        plan.op,
        plan.chunk,
        plan.src,
        zero if plan.src_buffer is None else plan.src_buffer,
        plan.dst,
        zero if plan.dst_buffer is None else plan.dst_buffer,
        plan.route,
    )
    rows = np.stack([column[order].astype(np.int64) for column in columns], axis=1)
    parts = [
        _listed(_kinds(plan.topology)),
        _table(plan.topology.src, plan.topology.dst, plan.topology.capacity),
        _collective(plan),
        _listed(plan.collective.members_of(plan.topology)),
        _table(*_ends(plan), np.ones(plan.chunks, np.int64) if plan.chunk_granules is None else plan.chunk_granules),
        _listed(plan.rounds),
        f"{plan.delay} {plan.buffers} {plan.period or 1} {plan.repeats}",
        "\n".join([str(len(plan.routes)), *(_listed(np.array(route, np.int64)) for route in plan.routes)]),
        _table(*rows.T),
    ]
    return "\n".join([*parts, ""]).encode()


def _listed(column: NDArray[np.integer]) -> str:
    return " ".join(map(str, [len(column), *column.tolist()]))


def _table(*columns: NDArray[np.integer]) -> str:
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return "\n".join([str(len(columns[0])), *(" ".join(map(str, row)) for row in rows)])


def _kinds(topology: Topology) -> NDArray[np.integer]:
    switch = np.where(topology.reducing, _REDUCING, _FORWARDING)
    return np.where(topology.kind == NodeKind.ENDPOINT, _ENDPOINT, np.where(topology.kind == NodeKind.SWITCH, switch, _ABSENT))


def _collective(plan: Schedule) -> str:
    collective = plan.collective
    if collective.demand is not None:
        return f"{_ALLTOALLV}\n{_table(*collective.demand.columns)}"
    root = "" if collective.root is None else f" {collective.root}"
    return f"{_NUMBERS[collective.kind]}{root}"


def _ends(plan: Schedule) -> tuple[NDArray[np.integer], NDArray[np.integer]]:
    """The start of each chunk, and where it is due: a node, or everyone."""
    everyone = np.full(plan.chunks, _EVERYONE)
    if plan.chunk_target is not None:
        return plan.chunk_root, plan.chunk_target
    if not plan.collective.is_rooted:
        return everyone, everyone
    return (everyone, plan.chunk_root) if plan.collective.reduces else (plan.chunk_root, everyone)
