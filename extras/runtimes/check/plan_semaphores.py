"""Semaphores of a plan: what a thread block that acquires one learns from those that released it."""

from collections import defaultdict, deque
from collections.abc import Iterable, Sequence

import numpy as np

from certree.extras.runtimes.check.execution import Block
from certree.extras.runtimes.check.ordering import Clock
from certree.extras.runtimes.model.plan import Operation, OpName, PlanRank

#: (rank, number of the semaphore)
Semaphore = tuple[int, int]
#: a signal that was not yet waited for: (what was over when it was given, how many messages left one after the other before)
Token = tuple[Clock, int]


class Semaphores:
    """The tokens of all semaphores, taken in the order in which they were given.

    `is_shared`: whether several thread blocks release a semaphore, or several acquire it, so that which block gets which token
    depends on the run. With `is_certain` such a token orders nothing, except the last one where one thread block takes all.
    O(tokens).
    """

    def __init__(
        self, ranks: Sequence[PlanRank], used: Iterable[tuple[Block, Operation]], zero: Clock, *, is_certain: bool
    ) -> None:
        self._tokens = {
            (rank, at): deque([(zero, 0)] * value) for rank, one in enumerate(ranks) for at, value in enumerate(one.semaphores)
        }
        self._left = {key: len(tokens) for key, tokens in self._tokens.items()}
        users: defaultdict[tuple[OpName, Semaphore], set[Block]] = defaultdict(set)
        for block, operation in used:
            for number in operation.semaphores:
                users[operation.name, (block[0], number)].add(block)
                self._left[block[0], number] += operation.name is OpName.RELEASE
        self._shared = {key for (_, key), blocks in users.items() if len(blocks) > 1}
        self._lone = {key for key in self._shared if len(users[OpName.ACQUIRE, key]) == 1}
        self._given = dict.fromkeys(self._tokens, zero)
        self._is_certain = is_certain
        self.is_shared = bool(self._shared)

    def missing(self, rank: int, numbers: Iterable[int]) -> int | None:
        """The first of these semaphores of a rank that has no token."""
        return next((one for one in numbers if not self._tokens[rank, one]), None)

    def release(self, rank: int, numbers: Iterable[int], token: Token) -> None:
        """Give a token to each of these."""
        for number in numbers:
            self._tokens[rank, number].append(token)
            self._given[rank, number] = np.maximum(self._given[rank, number], token[0])

    def acquire(self, rank: int, numbers: Iterable[int]) -> list[Token]:
        """Take a token of each of these."""
        taken = []
        for key in [(rank, number) for number in numbers]:
            clock, level = self._tokens[key].popleft()
            self._left[key] -= 1
            if self._is_certain and key in self._shared:
                is_last = key in self._lone and not self._left[key]
                clock = self._given[key] if is_last else np.zeros_like(clock)
            taken.append((clock, level))
        return taken
