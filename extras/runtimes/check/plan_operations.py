"""Operations of plans: unrolled, cut into slices, and in words."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import lcm

from certree.extras.runtimes.check.execution import Block
from certree.extras.runtimes.model.layout import Layout
from certree.extras.runtimes.model.plan import Channel, Operation, OpName, Plan
from certree.models.common.budget import PYTHON, hold, spend
from certree.models.common.errors import UnsupportedError

ROUNDS = 2  # that a loop is executed
MOST_SLICES = 1 << 10  # of a chunk


def unrolled(block: tuple[Operation, ...]) -> list[tuple[Operation, tuple[int, int]]]:
    """The operations of a block, those of loops ROUNDS times: (operation, (iteration, chunks of the loop)); 0 chunks outside."""
    found: list[tuple[Operation, tuple[int, int]]] = []
    for operation in block:
        if operation.name is not OpName.LOOP:
            found.append((operation, (0, 0)))
            continue
        found += [(inner, (turn, operation.loop_chunks)) for turn in range(ROUNDS) for inner in operation.body]
    return found


def shared_barriers(steps: Mapping[Block, Sequence[tuple[Operation, object]]]) -> set[tuple[int, int]]:
    """(rank, number) of the barriers that more thread blocks use than they let pass at once: who meets whom depends on the run."""
    users: defaultdict[tuple[int, int], set[Block]] = defaultdict(set)
    sizes: dict[tuple[int, int], int] = {}
    for block, operations in steps.items():
        for operation, _ in operations:
            if operation.name is OpName.BARRIER:
                key = block[0], operation.barrier
                users[key].add(block)
                sizes[key] = min(operation.blocks, sizes.get(key, operation.blocks))
    return {key for key, blocks in users.items() if len(blocks) > sizes[key]}


def slices(plan: Plan) -> int:
    """The number of slices of each chunk, so that every thread block of a group, and every iteration of a loop, has whole ones."""
    found = 1
    for _, _, _, operation in plan.operations():
        found = lcm(found, operation.part[1], ROUNDS if operation.name is OpName.LOOP else 1)
        if any(inner.part != (0, 1) for inner in operation.body):
            raise UnsupportedError("groups of thread blocks in a pipeline are not verified")
    if found > MOST_SLICES:
        raise UnsupportedError(f"groups of thread blocks cut a chunk into {found} parts; verified are up to {MOST_SLICES}")
    return found


def spend_on(plan: Plan, layout: Layout, slices: int) -> None:
    """Take what an execution needs from the budget: each access to a slice looks at all thread blocks."""
    blocks = sum(len(owner.blocks) for owner in plan.ranks)
    operations = [inner for *_, one in plan.operations() for inner in (one, *one.body)]
    chunks = sum(span.count for one in operations for span in (*one.src, *one.dst))
    cells = slices * (chunks + sum(layout.sizes(rank)[0] for rank in range(layout.ranks)))
    what = f"an execution of {blocks:,} thread blocks, with {cells:,} slices of chunks in all"
    spend(PYTHON * cells * (10 + blocks), what)
    hold(500 * cells, what)


def op_words(block: Block, index: int, operation: Operation | None = None) -> str:
    """`rank 0, thread block 1, operation 2 (put)`."""
    named = f" ({operation.name})" if operation is not None else ""
    return f"rank {block[0]}, thread block {block[1]}, operation {index}{named}"


def channel_words(ends: tuple[str, int, int, int]) -> str:
    """`from rank 0 to rank 1 (memory channel 0)`."""
    kind, source, target, which = ends
    return f"from rank {source} to rank {target} ({kind} channel {which})"


def signals_of(channel: Channel, rank: int, *, given: bool) -> tuple[str, int, int, int]:
    """(type, from, to, which) of the signals that a rank gives, or waits for, on a channel."""
    kind, peer, which = channel
    return (kind, rank, peer, which) if given else (kind, peer, rank, which)
