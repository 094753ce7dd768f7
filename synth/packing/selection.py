"""Joint choice of trees, delay, period and repeats by closed-form time at the given size and machine."""

import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isqrt
from typing import Any

import numpy as np

from certree.models.common.errors import UnsupportedError
from certree.models.network.topology import Int32
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.timing import peak_reductions
from certree.synth.method import Request
from certree.synth.packing.slotting import Clock, Reach, SlotRules, assign_slots, slotted_schedule, slowest_route
from certree.synth.packing.trees import TreeFamily
from certree.verify.order.agreement import waits_for_credits

DELAYS = (1, 2, 3, 4, 5, 6, 7, 8, 10)
REDUCTIONS = (0, 1, 2, 3)
PERIODS = (64, 80, 128)  # 64ths of the shortest
ROUTED_PERIODS = (64, 66, 68, 72, 80, 128)  # a transfer over several links must find all of them free at once
BUDGET = 12_000_000  # transfers visited and slots probed in one unit of effort: half a second or so
_LOOK, _STAY = 24, 6  # parts of the budget that go into a candidate's first look and into each later one
_LOOKS = 6  # first looks at candidates of one family
_TURNS = 1000  # most schedules made with the rest of the budget
_POLISHED = 3  # families whose best candidates share the rest of the budget
#: a family of more than this many times the best cycles before the search gets one look only, and after this many such families no
#: more get any: the best of all families was up to 2.5 times faster than the first looks at three, on 9 networks
_SLOW, _SLOW_FAMILIES = 4, 3


@dataclass(frozen=True)
class Trees:
    """A possible family, with its known properties before it is built.

    `chunks` K; `period` in which its links can carry it, never less than `least_period`; `chain`: a lower bound on the transfers
    of the longest chain; `reductions`: a lower bound on the reduces that arrive at the busiest node; `even`: reduces load both
    directions of a link equally (roots all over the network), not only the one towards the centre. `reach`: estimate of its
    routes; None: single links. `units_limit`: reduction units may take longer than links. `is_summed`: with a period, no slot has
    more sums at a node than it must have, and `spare_sums` more.
    """

    chunks: int
    period: int
    least_period: int
    chain: int
    reductions: int
    even: bool
    build: Callable[[], TreeFamily | None]
    reach: Reach | None = None
    units_limit: bool = False
    is_summed: bool = False
    spare_sums: int = 0

    @classmethod
    def built(cls, family: TreeFamily) -> "Trees":
        """A family that exists already."""
        return cls(
            family.chunks,
            family.period,
            family.period,
            family.chain,
            family.reductions,
            even=len(np.unique(family.root)) > len(family.topology.endpoints) // 2,
            build=lambda: family,
        )


@dataclass(frozen=True)
class Candidate:
    """One choice of trees and rules; it takes at least `steps` and `floor` cycles, and probably about `guess` cycles.

    Where links differ in latency, cycles are counted with the slowest link; `floor` is then an estimate, not a bound.
    """

    trees: Trees
    rules: SlotRules
    steps: int
    floor: int
    guess: int


@dataclass
class Search:
    """Evaluates candidates in the order of their guesses until the budget is spent or none can win.

    `provenance` makes the provenance of a schedule from what was chosen; `budget` is the work of one unit of effort. The result is
    deterministic in (request, trees) unless the monitor has a deadline. Each evaluation costs as `assign_slots`.
    """

    request: Request
    provenance: Callable[[Mapping[str, Any]], Mapping[str, Any]]
    budget: int = BUDGET
    best: Schedule | None = None
    best_cycles: int = 0
    _waits: bool = False
    _spent: int = 0
    _families: dict[int, tuple[TreeFamily, Clock] | None] = field(default_factory=dict)
    _clocks: dict[Reach | None, Clock] = field(default_factory=dict)

    def run(self, options: Sequence[Trees]) -> Schedule:
        """The best schedule found; UnsupportedError when no option gives one within the requested steps.

        The best schedule of the monitor is a limit: only candidates whose floor lies below it are evaluated, but at least one.
        """
        budget, limit = self.budget * self.request.effort, (self.request.monitor.best_cycles or sys.maxsize) * _SLOW
        candidates = sorted(self.candidates(options), key=lambda candidate: candidate.guess)
        tried: list[tuple[int, int, Candidate]] = []
        seen, slow = Counter[int](), set[int]()  # evaluations by trees; trees that are too slow
        for index, candidate in enumerate(candidates):
            if self.best is not None and (
                self._spent >= budget // 2 or self.request.monitor.expired or len(slow) == _SLOW_FAMILIES
            ):
                break
            family = id(candidate.trees)
            for stagger in self.staggers(candidate)[:2] if seen[family] < _LOOKS and self._promising(candidate) else ():
                cycles = None if family in slow else self._evaluate(candidate, budget // _LOOK, stagger, seed=0)
                if cycles is not None:
                    tried.append((cycles, index, candidate))
                    seen[family] += 1
                    slow |= {family} if cycles > limit else set()
        leaders: dict[int, tuple[int, Candidate]] = {}
        for cycles, _, candidate in sorted(tried, key=lambda entry: entry[:2]):
            if cycles <= limit:
                leaders.setdefault(id(candidate.trees), (cycles, candidate))
        self._polish(list(leaders.values())[:_POLISHED], budget)
        for candidate in candidates if self.best is None else ():
            if self._spent >= 2 * budget or self._evaluate(candidate, budget // _LOOK, 0, seed=0) is not None:
                break
        if self.best is None:
            within = "" if self.request.steps is None else f" within {self.request.steps} steps"
            raise UnsupportedError(f"found no schedule{within}")
        return self.best

    def clock(self, reach: Reach | None) -> Clock:
        """The closed form for routes like these."""
        if reach not in self._clocks:
            self._clocks[reach] = Clock(self.request, reach or slowest_route(self.request, 1))
        return self._clocks[reach]

    def _promising(self, candidate: Candidate) -> bool:
        bar = self.request.monitor.best_cycles
        limit = None if self.best is None or self._waits else self.best_cycles
        return (limit is None or candidate.floor < limit) and (bar is None or candidate.floor < bar)

    def _polish(self, leaders: Sequence[tuple[int, Candidate]], budget: int) -> None:
        """Spend the rest of the budget on the best candidates with new seeds, every other time on the best of all."""
        best = [cycles for cycles, _ in leaders]
        for turn in range(_TURNS if leaders else 0):
            if self._spent >= budget or self.request.monitor.expired:
                return
            chosen = turn // 2 % len(leaders) if turn % 2 else best.index(min(best))
            candidate = leaders[chosen][1]
            if self._promising(candidate):
                staggers = self.staggers(candidate)
                cycles = self._evaluate(candidate, budget // _STAY, staggers[turn // 2 % len(staggers)], seed=turn + 1)
                best[chosen] = min(best[chosen], cycles or best[chosen])

    def candidates(self, options: Sequence[Trees]) -> list[Candidate]:
        """The candidates: every delay with every cap on reductions where nothing repeats, and with every period."""
        found = []
        for trees in options:
            for delay in DELAYS:
                for reductions in REDUCTIONS if self.request.collective.reduces else (0,):
                    found.append(self._candidate(trees, SlotRules(delay, None, reductions)))
                for period in dict.fromkeys(trees.period * part // 64 for part in (ROUTED_PERIODS if trees.reach else PERIODS)):
                    sums = trees.is_summed * (-(-trees.reductions // period) + trees.spare_sums)
                    found.append(self._candidate(trees, SlotRules(delay, period, sums)))
        most = self.request.steps
        return [candidate for candidate in found if most is None or candidate.steps <= most]

    def _candidate(self, trees: Trees, rules: SlotRules) -> Candidate:
        """Floor: the chain must pass; without a period every link carries all its transfers in the slots there are, and a reduction
        unit that takes few at a time needs the slots for all of them, before a copy of the last.

        The guess adds the waiting that full periods and busy reduction units were seen to cost.
        """
        reduces, gathers = self.request.collective.reduces, self.request.collective.gathers
        chain = (trees.chain - 1) * rules.delay + 1
        least = chain if rules.period else max(chain, trees.least_period)
        likely = least
        if rules.reductions and rules.period is None:
            slots = -(-trees.reductions // rules.reductions)
            least = max(least, slots + rules.delay * gathers)
            likely = max(likely, slots + trees.chain // 2 * rules.delay * gathers)
        if rules.period is None:
            low, high = sorted((chain, trees.period * (1 if trees.even else 2)))
            likely = max(likely, high) + 3 + high // 16 + low * low // (3 * high)
        else:
            likely += trees.period * trees.period * isqrt(256 * trees.chain) // (32 * rules.period)
        fewest = -(-trees.reductions // rules.period) if trees.units_limit and rules.period else int(reduces)  # in the busiest slot
        usual = min(rules.reductions or 4, max(1, trees.reductions)) * reduces
        if fewest > usual:  # in several slots, without a cap, about twice as many come in one of them
            usual = fewest if rules.reductions or rules.period == 1 else 2 * fewest
        clock = self.clock(trees.reach)
        return Candidate(
            trees,
            rules,
            steps=least,
            floor=clock.least(trees.chunks, rules, least, fewest),
            guess=clock.best(trees.chunks, rules, likely, usual)[0],
        )

    @staticmethod
    def staggers(candidate: Candidate) -> list[int]:
        """Candidate staggers: none, and where nothing repeats parts of the time that the busiest link needs."""
        return [0] if candidate.rules.period else [0, candidate.trees.period // 2, candidate.trees.period // 4]

    def _evaluate(self, candidate: Candidate, work: int, stagger: int, *, seed: int) -> int | None:
        """Schedule a candidate and keep it when it is the best; its cycles, or None when its rules cannot be met."""
        rules = candidate.rules
        built = self._built(candidate.trees)
        if built is None:
            return None
        family, clock = built
        if rules.period and rules.reductions:
            rules = replace(rules, reductions=-(-family.reductions // rules.period) + candidate.trees.spare_sums)
        slots, spent = assign_slots(family, rules, work=work, stagger=stagger, seed=self.request.seed * 1_000_003 + seed)
        self._spent += spent
        if slots is None:
            return None
        length = int(slots.max()) + 1
        if self.request.steps is not None and length > self.request.steps:
            return None
        rows = family.transfers
        peak = peak_reductions(rows.op, slots, rows.dst, rules.period, 1 << 30)
        cycles, repeats = clock.best(family.chunks, rules, length, peak)
        waits = not clock.passes(family.chunks, np.array([repeats])).all()
        if self.best is None or (waits, cycles) < (self._waits, self.best_cycles):
            self._keep(family, slots, rules, repeats)
        return cycles

    def _built(self, trees: Trees) -> tuple[TreeFamily, Clock] | None:
        """The family of an option with the closed form for its routes, made once; None where there is none."""
        if id(trees) not in self._families:
            family = trees.build()
            reach = Reach.of(family, self.request.machine) if family is not None and family.routes else None
            self._families[id(trees)] = None if family is None else (family, self.clock(reach))
        return self._families[id(trees)]

    def _keep(self, family: TreeFamily, slots: Int32, rules: SlotRules, repeats: int) -> None:
        period = rules.period if repeats > 1 else None
        chosen = SlotRules(rules.delay, period, rules.reductions)
        schedule = slotted_schedule(family, slots, chosen, repeats, self.provenance(family.origin))
        cycles = self.request.cycles(schedule)
        waits = waits_for_credits(schedule, self.request.machine, self.request.message_bytes)
        if self.best is None or (waits, cycles) < (self._waits, self.best_cycles):
            self.best, self.best_cycles, self._waits = schedule, cycles, waits
            if self.request.is_in_order(schedule):
                self.request.monitor.offer(schedule, cycles, waits=waits)
            shape = f"period {period}, {repeats} times" if period else "no period"
            self.request.monitor.report(
                f"{cycles} cycles: {family.chunks} chunks, delay {rules.delay}, {schedule.steps} slots, {shape}"
            )
