"""Plans of transfers within one group, by member numbers 0..n-1: the building blocks of hierarchical algorithms.

A group's data is cut into *shares*. In a reduce-scatter plan share t ends, summed up, at member t, each member sending it at most
once (an in-tree); the reverse of such a plan is an all-gather. In an exchange every member ends with every sum.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from certree.models.common.errors import UnsupportedError
from certree.models.network.topology import Int32
from certree.models.schedule.schedule_columns import Op


@dataclass(frozen=True)
class GroupPlan:
    """Transfers of a group of `size` members, one row each: `share` (below `shares`), `op`, `step` (from 0), `src`, `dst`."""

    size: int
    shares: int
    share: Int32
    op: NDArray[np.int8]
    step: Int32
    src: Int32
    dst: Int32

    @property
    def steps(self) -> int:
        """The number of steps of the plan; 0 for a group of one member."""
        return int(self.step.max(initial=-1)) + 1

    def reversed(self) -> "GroupPlan":
        """The all-gather that undoes a reduce-scatter plan: backwards in time and direction, copies instead of reduces."""
        return replace(
            self,
            op=np.full(len(self.op), Op.COPY, np.int8),
            step=(self.steps - 1 - self.step).astype(np.int32),
            src=self.dst,
            dst=self.src,
        )

    def mirrored(self) -> "GroupPlan":
        """The mirror image: member m is replaced by member -m mod n, and shares in the same way."""
        share = (-self.share) % self.size if self.shares == self.size else self.share
        return replace(self, share=share, src=(-self.src) % self.size, dst=(-self.dst) % self.size)


def _plan(
    size: int,
    share: NDArray[np.int64],
    step: NDArray[np.int64],
    src: NDArray[np.int64],
    dst: NDArray[np.int64],
    shares: int | None = None,
) -> GroupPlan:
    """A plan of reduces from columns of any whole numbers and equal shapes."""
    columns = (column.ravel().astype(np.int32) for column in np.broadcast_arrays(share, step, src % size, dst % size))
    share32, step32, src32, dst32 = columns
    return GroupPlan(
        size, size if shares is None else shares, share32, np.full(len(share32), Op.REDUCE, np.int8), step32, src32, dst32
    )


def direct_plan(size: int) -> GroupPlan:
    """Co-located parameter server: every member sends share t straight to member t, all in one step. O(n^2) rows.

    GenTree, Section 2.1 (Fig. 1b); direct all-reduce of ACE, Section 5.
    """
    target, distance = np.meshgrid(np.arange(size), np.arange(1, size), indexing="ij")
    return _plan(size, target, np.zeros_like(target), target + distance, target)


def by_distance_plan(size: int) -> GroupPlan:
    """A plan as `direct_plan`, but in step s every member sends to the member s + 1 places on: size - 1 steps. O(n^2) rows."""
    target, distance = np.meshgrid(np.arange(size), np.arange(1, size), indexing="ij")
    return _plan(size, target, distance - 1, target - distance, target)


def ring_plan(size: int) -> GroupPlan:
    """Share t travels once round the ring of members, from t + 1 to t: size - 1 steps. O(n^2) rows.

    Patarasuk and Yuan (2009), Section 3; GenTree, Section 2.1 (Fig. 1c).
    """
    target, step = np.meshgrid(np.arange(size), np.arange(size - 1), indexing="ij")
    return _plan(size, target, step, target + step + 1, target + step + 2)


def halving_plan(size: int) -> GroupPlan:
    """Recursive halving: partners half the group apart exchange the shares of each other's half, then within the halves.

    log2(size) steps, O(n^2) rows; UnsupportedError unless the size is a power of 2. GenTree, Section 2.1 (Fig. 1d).
    """
    if size & (size - 1):
        raise UnsupportedError(f"recursive halving needs a power of 2 members; this group has {size}")
    columns: list[NDArray[np.int64]] = []
    for step in range(size.bit_length() - 1):
        apart = size >> (step + 1)
        # before this step a member still has the shares that agree with it in the bits above `apart`
        share, member = np.meshgrid(np.arange(size), np.arange(size), indexing="ij")
        sends = ((share ^ member) & (size - apart)) == apart
        columns.append(np.stack([share[sends], np.full(sends.sum(), step), member[sends], member[sends] ^ apart]))
    return _plan(size, *(np.concatenate(columns, axis=1) if columns else np.zeros((4, 0), np.int64)))


def factored_plan(factors: tuple[int, ...]) -> GroupPlan:
    """Hierarchical co-located PS f0 x f1 x ...: a direct reduce-scatter in groups of f0, then f1 across them, and so on.

    Member number = mixed radix with the first factor fastest, so the first groups are neighbouring members. One step per factor,
    O(n^2) rows. GenTree, Section 3.3 (Fig. 5).
    """
    size = int(np.prod(factors))
    strides = np.cumprod((1, *factors[:-1]))
    share, member = np.meshgrid(np.arange(size), np.arange(size), indexing="ij")
    columns: list[NDArray[np.int64]] = []
    for step, (factor, stride) in enumerate(zip(factors, strides.tolist(), strict=True)):
        # member agrees with the share's target in the factors before this one, which have been summed up already
        sends = (share % stride == member % stride) & (share // stride % factor != member // stride % factor)
        to = member + (share // stride % factor - member // stride % factor) * stride
        columns.append(np.stack([share[sends], np.full(sends.sum(), step), member[sends], to[sends]]))
    return _plan(size, *np.concatenate(columns, axis=1))


def doubling_offsets(size: int) -> tuple[int, ...]:
    """Distances of transfers in each step of the switch-fc all-reduce, corrected: 1, 2, 4, ... up to half of `size`.

    The data of a member double in each step, so the sum of step S covers 2^(S-1) members and must be sent that far.
    """
    return tuple(1 << step for step in range((size - 1).bit_length()))


def printed_offsets(size: int) -> tuple[int, ...]:
    """The offsets as printed (switch-fc, Section III-B): 1, then 2(S - 1) in step S >= 2, over log2(size) steps.

    They agree with `doubling_offsets` up to 8 members and differ from 16 on, where step 4 would need 8 and not 6.
    """
    return tuple(max(1, 2 * step) for step in range((size - 1).bit_length()))


def exchange_plan(size: int, offsets: tuple[int, ...]) -> GroupPlan:
    """In step S every member adds to its sum what the member offsets[S] places before it holds; one share.

    switch-fc, Section III-B1 (Fig. 7). O(n log n) rows. With `doubling_offsets` all sums are complete when the size is a power of
    2.
    """
    step, member = np.meshgrid(np.arange(len(offsets)), np.arange(size), indexing="ij")
    offset = np.array(offsets, np.int64)[step] if offsets else step
    return _plan(size, np.zeros_like(step), step, member, member + offset, shares=1)


def spread_plan(size: int, offsets: tuple[int, ...]) -> GroupPlan:
    """An all-gather: in step S every member sends the member offsets[S] places on the shares that this one lacks.

    switch-fc, Section III-B2 (Fig. 8); share t starts at member t. `offsets` need not suffice. O(n^2) rows.
    """
    columns: list[NDArray[np.int64]] = []
    held = np.zeros(size, np.bool_)  # by distance: whether every member has the data of the member that many places before it
    held[0] = True
    for step, offset in enumerate(offsets):
        arriving = np.roll(held, offset) & ~held
        distance = np.flatnonzero(arriving)
        share, behind = np.meshgrid(np.arange(size), distance, indexing="ij")
        columns.append(
            np.stack([share.ravel(), np.full(share.size, step), (share + behind - offset).ravel(), (share + behind).ravel()])
        )
        held |= arriving
    plan = _plan(size, *(np.concatenate(columns, axis=1) if columns else np.zeros((4, 0), np.int64)))
    return replace(plan, op=np.full(len(plan.op), Op.COPY, np.int8))
