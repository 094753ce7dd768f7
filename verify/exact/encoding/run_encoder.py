"""The trusted formula of runs: whether an all-reduce of equal chunks can be over within some cycles, in fine slots.

The sentences F1 to F17 of docs/decisions/0009-fine-slots.md say when a schedule with fine slots does what. Every such schedule that
is over in time is a model of the formula, whatever its slots, buffers, routes, waits and iterations, so that a refutation excludes
all of them. The formula allows more than schedules can do. What it demands, of sums of the contributions of sets of endpoints:

- An endpoint *has* its own contribution at once, and any other sum from when a message that brings it *came*, or from when its
  reduction unit has *added* it. No sum counts a contribution twice, as nothing takes it out again.
- A message *enters* the first link of its route when its source has what it brings, and each further link no earlier than the wire
  and a router after it entered the one before (F4, F14). It takes a lane for `ser` cycles from then on (F3, F5) and comes when F7
  says. Routes are simple: from a route with a circle the circle can be left out, and the message can wait instead.
- A unit adds one chunk at a time, for `red` cycles (F8). What it adds came by a message at least `reduce_start_cycles` before, or
  is moved by a local transfer, which left `ser` cycles before that (F9). What it adds to is a sum that the unit has made by then,
  or was in its cell when the other one left, at least as long before: no copy may land in a cell that a reduce is on its way to
  (F10).

Two windows leave out variables. Nothing is there before the earliest cycle that these demands allow where lanes and units are
always free; and what is there later than the latest cycle in which it can still lead to the whole sum in time needs no variable.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from certree.models.common.budget import PYTHON, spend
from certree.models.common.errors import UnsupportedError
from certree.verify.exact.formula import Formula
from certree.verify.exact.run_question import Route, RunQuestion, Windows

MAX_CLAUSES = 2_000_000


class RunEncoder:
    """The formula of a question, complete after construction; the empty clause if an endpoint cannot have the whole sum in time.

    UnsupportedError where it would have more than MAX_CLAUSES clauses. O(clauses) time and memory.
    """

    def __init__(self, question: RunQuestion) -> None:
        self.question, self.formula, self._windows = question, Formula(), Windows(question)
        self._lanes: dict[int, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
        self._units: dict[int, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
        if not self._windows.possible:
            self.formula.add()
            return
        for _ in range(question.chunks):
            self._add_chunk()
        costs, capacity = question.costs, question.topology.pair_capacity.tolist()
        for pair, entries in self._lanes.items():
            self._limit(entries, costs.ser, capacity[pair])
        for additions in self._units.values():
            self._limit(additions, costs.red, 1)

    def _family(self, name: str, purpose: str, keys: Iterable[tuple[int, ...]]) -> dict[tuple[int, ...], int]:
        """Fresh variables for these keys."""
        keys = list(keys)
        spend(PYTHON * len(keys), f"a formula of {self.question.cycles} cycles")
        if self.formula.variables + len(keys) > MAX_CLAUSES:
            raise UnsupportedError(f"the formula of {self.question.cycles} cycles would have more than {MAX_CLAUSES} clauses")
        return dict(zip(keys, self.formula.family(name, purpose, range(len(keys))).values(), strict=True))

    def _add_chunk(self) -> None:
        """The variables and clauses of one more chunk."""
        question, windows = self.question, self._windows
        places = [(node, some) for node, own in question.own.items() for some in question.sums if some != own]
        self._has, self._came, self._added = (
            self._family(name, what, ((*place, t) for place in places for t in windows.cycles(first, place)))
            for name, what, first in (
                ("has", "endpoint n has sum v in cycle t [n, v, t]", windows.has),
                ("came", "a message with sum v has come to n by cycle t [n, v, t]", windows.came),
                ("added", "the unit of n has added up v by cycle t [n, v, t]", windows.added),
            )
        )
        self._came_at: dict[tuple[int, ...], list[int]] = defaultdict(list)
        self._added_at: dict[tuple[int, ...], list[int]] = defaultdict(list)
        for route in question.routes:
            for some in question.sums:
                if some != question.own[route.dst]:
                    self._add_message(route, some)
        for node in question.own:
            self._add_unit(node)
        for key, has in self._has.items():  # what is there came, or was added up
            self._demand(has, self._came.get(key), self._added.get(key))
        for found, at in ((self._came, self._came_at), (self._added, self._added_at)):
            for (node, some, t), variable in found.items():  # by now: by the cycle before, or now
                self._demand(variable, found.get((node, some, t - 1)), *at[node, some, t])
        for node in question.own:
            self.formula.add(self._has[node, question.sums[-1], question.most])

    def _held(self, node: int, some: int, cycle: int) -> int | bool | None:
        """The literal of having a sum; True for the endpoint's own contribution, None where it cannot have the sum."""
        return cycle >= 0 if some == self.question.own[node] else self._has.get((node, some, cycle))

    def _demand(self, event: int, *reasons: int | bool | None) -> None:
        """Add the clause that the event needs one of these reasons."""
        if not any(reason is True for reason in reasons):
            self.formula.add(-event, *(reason for reason in reasons if reason))

    def _add_message(self, route: Route, some: int) -> None:
        """Add a message that carries a sum along a route: when it enters each link, and when it comes."""
        first, costs = self._windows.entries(route, some), self.question.costs
        passed = 0
        entered: dict[tuple[int, ...], int] = {}  # the link before, by cycle
        for number, (pair, hop) in enumerate(zip(route.pairs, route.hops, strict=True)):
            cycles = range(first.start + passed, first.stop + passed)
            enters = self._family(f"enters {route.pairs} {number}", f"with {some}, in cycle t", ((t,) for t in cycles))
            for (t,), variable in enters.items():
                self._lanes[pair][t].append(variable)
                reason = self._held(route.src, some, t) if number == 0 else entered[t - route.hops[number - 1],]
                self._demand(variable, reason)
                if number == len(route.pairs) - 1:
                    self._came_at[route.dst, some, t + hop + costs.ends + costs.ser].append(variable)
            if number < len(route.pairs) - 1:
                entered = self._family(f"entered {route.pairs} {number}", f"with {some}, by cycle t", enters)
                for (t,), variable in entered.items():
                    self._demand(variable, entered.get((t - 1,)), enters[t,])
            passed += hop

    def _add_unit(self, node: int) -> None:
        """Add the additions of the reduction unit of an endpoint."""
        costs = self.question.costs
        for moved, there in self._windows.splits:
            cycles = self._windows.additions(node, moved, there)
            begins = self._family(f"begins {node}", f"to add {moved} to {there}, in cycle t", ((t,) for t in cycles))
            for (t,), variable in begins.items():
                self._units[node][t].append(variable)
                came, left = t - costs.start, t - costs.start - costs.ser
                self._demand(variable, self._came.get((node, moved, came)), self._held(node, moved, left))
                self._demand(variable, self._added.get((node, there, t)), self._held(node, there, left))
                self._added_at[node, moved | there, t + costs.red].append(variable)

    def _limit(self, begun: Mapping[int, list[int]], length: int, most: int) -> None:
        """State that at most `most` of the events that begin and take `length` cycles are under way in a cycle."""
        cycles = sorted(begun)
        if most == 1:
            self._limit_to_one(begun, length)
            return
        for place, last in enumerate(cycles):
            if place + 1 < len(cycles) and cycles[place + 1] - length + 1 <= next(t for t in cycles if t > last - length):
                continue  # all of these are under way in the next cycle, too
            self._count([literal for t in range(last - length + 1, last + 1) for literal in begun.get(t, ())], most)

    def _limit_to_one(self, begun: Mapping[int, list[int]], length: int) -> None:
        """State that at most one of the events that begin and take `length` cycles is under way in a cycle."""
        busy = self._family("busy", "something begins in cycle t", ((t,) for t in begun))
        for (t,), variable in busy.items():
            for literal in begun[t]:
                self.formula.add(-literal, variable)
            self._count(begun[t], 1)
            for later in range(t + 1, t + length):
                if (later,) in busy:
                    self.formula.add(-variable, -busy[later,])

    def _count(self, literals: list[int], most: int) -> None:
        """State that at most `most` of these literals are true."""
        if len(self.formula.clauses) + 2 * len(literals) * (most + 1) > MAX_CLAUSES:
            raise UnsupportedError(f"the formula of {self.question.cycles} cycles would have more than {MAX_CLAUSES} clauses")
        if len(literals) > most:
            self.formula.add(-self.formula.count(literals, most + 1)[most])
