"""Which collective a module computes: the one whose results it has, or else of those that its arrays fit the one that it misses
least."""

from collections import Counter
from collections.abc import Iterator

from certree.extras.runtimes.check.checker import wrong_cells
from certree.extras.runtimes.model.layout import Layout
from certree.extras.runtimes.model.roles import Roles
from certree.extras.xla.check.hlo.values import HloRun, Values
from certree.models.common.errors import InputError
from certree.models.schedule.collective import CollectiveKind

_SUMS = (CollectiveKind.ALL_REDUCE, CollectiveKind.REDUCE_SCATTER, CollectiveKind.REDUCE)
_SHARED = (CollectiveKind.ALL_REDUCE, CollectiveKind.ALL_GATHER, CollectiveKind.BROADCAST)  # all devices have the result
_ROOTED = (CollectiveKind.BROADCAST, CollectiveKind.REDUCE, CollectiveKind.GATHER, CollectiveKind.SCATTER)


def layout_of(values: Values, kind: CollectiveKind | None, root: int | None) -> Layout:
    """The layout of a module. InputError where no collective of this kind has arrays of these sizes. O(places of outputs) for each
    that does."""
    found = list(_Candidates(values, kind, root).layouts())
    if not found:
        executed, words = values.executed, "no collective" if kind is None else f"no {kind}"
        shapes = f"{executed.inputs * executed.grain:,} elements and returns {executed.outputs.shape[1] * executed.grain:,}"
        raise InputError(f"each of {len(executed.rank)} devices is given {shapes}; {words} has such arrays")
    best, most = found[0], -1
    for layout in found:
        wrong = sum(1 for _ in wrong_cells(HloRun(values, layout)))
        if not wrong and (kind is not None or not strays(values, layout)):
            return layout
        right = sum(layout.sizes(rank)[1] for rank in range(layout.ranks)) - wrong
        if right > most:
            best, most = layout, right
    return best


def strays(values: Values, layout: Layout) -> int:
    """How many places that are not due hold data, of a rank that takes part those of others: what is right at some ranks only is
    no collective of these."""
    executed, found = values.executed, 0
    for device, rank in enumerate(executed.rank.tolist()):
        own = {rank} if rank in layout.order else set[int]()
        others = executed.outputs[device, layout.sizes(rank)[1] :].tolist()
        found += sum(not own.issuperset(one for one, _ in values.by_event[event].parts) for event in others)
    return found


class _Candidates:
    def __init__(self, values: Values, kind: CollectiveKind | None, root: int | None) -> None:
        executed = values.executed
        self.values, self.kind, self.root = values, kind, root
        self.ranks, self.inputs, self.outputs = len(executed.rank), executed.inputs, executed.outputs.shape[1]
        device = executed.rank.argsort()
        self.held = [[values.by_event[event] for event in executed.outputs[one].tolist()] for one in device.tolist()]
        self.sources = Counter(rank for row in self.held for value in row for rank, _ in value.parts)
        self.receivers = [rank for rank, row in enumerate(self.held) if any(value.parts or value.fault for value in row)]
        self.adds = any(len(value.parts) > 1 for row in self.held for value in row)

    def layouts(self) -> Iterator[Layout]:
        """The layouts whose arrays have these sizes, the likely ones first."""
        among = sorted({*self.sources, *self.receivers})
        is_shared = self.values.executed.is_shared
        groups = [None, tuple(among)] if 2 <= len(among) < self.ranks and not is_shared else [None]
        kinds = sorted(_SHARED if is_shared else CollectiveKind, key=lambda one: ((one in _SUMS) != self.adds, one in _ROOTED))
        for members in groups:
            for kind in kinds if self.kind is None else [one for one in kinds if one is self.kind]:
                for root in self._roots(kind, members):
                    yield from self._layout(kind, root, members)
        if self.kind in (None, CollectiveKind.ALL_TO_ALL) and self.root is None and not self.adds and not is_shared:
            yield from self._unequal()

    def _roots(self, kind: CollectiveKind, members: tuple[int, ...] | None) -> list[int | None]:
        if kind not in _ROOTED:
            return [None] if self.root is None else []
        if self.root is not None:
            return [self.root]
        if kind in (CollectiveKind.BROADCAST, CollectiveKind.SCATTER):
            likely = [rank for rank, _ in self.sources.most_common(1)]
        else:
            count = Counter({rank: sum(len(value.parts) for value in row) for rank, row in enumerate(self.held)})
            likely = [rank for rank, _ in count.most_common(1)]
        return [one for one in likely if members is None or one in members]

    def _layout(self, kind: CollectiveKind, root: int | None, members: tuple[int, ...] | None) -> Iterator[Layout]:
        count = self.ranks if members is None else len(members)
        match kind:
            case CollectiveKind.ALL_GATHER | CollectiveKind.GATHER:
                fits, chunks = self.outputs == count * self.inputs, self.inputs
            case CollectiveKind.REDUCE_SCATTER | CollectiveKind.SCATTER:
                fits, chunks = self.inputs == count * self.outputs, self.outputs
            case CollectiveKind.ALL_TO_ALL:
                fits, chunks = self.inputs == self.outputs and self.inputs % count == 0, self.inputs
            case _:
                fits, chunks = self.inputs == self.outputs, self.inputs
        if kind in (CollectiveKind.ALL_GATHER, CollectiveKind.REDUCE_SCATTER):
            chunks *= count
        if fits:
            yield Layout(kind, self.ranks, chunks, root, Roles(members))

    def _unequal(self) -> Iterator[Layout]:
        """The alltoallv with as many blocks from each rank to each other one as arrived there."""
        blocks = [[0] * self.ranks for _ in range(self.ranks)]
        for target, row in enumerate(self.held):
            for value in row:
                for source, _ in value.parts:
                    blocks[source][target] += source != target
        rows = tuple(map(tuple, blocks))
        sent, came = max(map(sum, rows)), max(map(sum, zip(*rows, strict=True)))
        if sent == self.inputs and came == self.outputs:
            yield Layout(CollectiveKind.ALL_TO_ALL, self.ranks, max(sent, came), None, Roles(None, rows))
