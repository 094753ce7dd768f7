"""Verdicts of the checkers: violations with messages, or the quality of a valid schedule."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from certree.models.common.shown import Shown
from certree.models.schedule.made_for import MadeFor
from certree.verify.rule import RULES
from certree.verify.wording import list_text

LISTED_PER_RULE = 20  # violations of one rule beyond this many are counted, not listed


@dataclass(frozen=True)
class Violation:
    """One violation: the rule, a message that names chunk, step, link or node, and the rows (transfer numbers) involved."""

    rule: str
    message: str
    rows: tuple[int, ...] = ()


@dataclass(frozen=True)
class Quality:
    """The quality of a valid schedule; every value is recomputed.

    `bandwidth_time` and `bandwidth_bound` are rounds per chunk; times `scale` (Topology) they are coefficients of M/B;
    `latency_steps` are the steps of one iteration, and `latency_bound` the fewest that there can be; both are None with fine slots,
    which are not counted as steps. The bounds are for the class of the schedule: its shares, its delay and its routes. `optimal_in`
    lists the quantities whose value equals its re-checked bound; `gap` is value ÷ bound − 1; `witnesses` are the bound documents
    that give the bounds, bandwidth first. `any_shares`: for an all-gather or reduce-scatter, the document of the best re-checked
    bandwidth bound that holds whatever parts of the message the endpoints root; None for other collectives, whose bounds all hold
    so. `any_sums`: the best re-checked bandwidth bound that holds however sums are made, in rounds per chunk. `fewest_steps`: the
    kind of the re-checked proof that no schedule of as many chunks has fewer steps (`fewest_steps`), or None. `optimum`: (chunks,
    steps, rounds), where it is proved that no schedule with at most as many chunks, steps and rounds per chunk has fewer of any
    (`optimum`), or None. `fewest_cycles`: the cycles of the run that it was made for, where it is proved that no schedule with fine
    slots takes fewer (`fewest_cycles`), or None. `time`: the bounds on the time of a run for a message size and a machine,
    re-checked; None without such bounds.
    """

    bandwidth_time: Fraction
    bandwidth_bound: Fraction
    any_sums: Fraction
    latency_steps: int | None
    latency_bound: int | None
    optimal_in: tuple[str, ...]
    gap: Mapping[str, Fraction | None]
    witnesses: tuple[Mapping[str, Any], ...]
    fewest_steps: str | None = None
    optimum: tuple[int, int, int] | None = None
    fewest_cycles: int | None = None
    scale: int = 1
    time: "ProvedTime | None" = None
    any_shares: Mapping[str, Any] | None = None

    @property
    def bandwidth_witnesses(self) -> tuple[Mapping[str, Any], ...]:
        """The documents of the best bandwidth bound, and of the best for any shares, where that is another one."""
        first = self.witnesses[0]
        return (first,) if self.any_shares is None or self.any_shares == first else (first, self.any_shares)


class ProvedTime(NamedTuple):
    """Bounds on the time of a run for a message size and a machine: `cycles` that every run of the schedule's class takes, and
    `any_shares`, those that every run takes whatever the shares; None where these were not bounded."""

    made_for: MadeFor
    cycles: int
    any_shares: int | None


@dataclass(frozen=True, repr=False)
class Verdict(Shown):
    """The violations, earliest step first; without violations the quality. `counts`: violations of each broken rule, listed or not.

    `serialized_rounds`: where links are overfilled, the rounds in which the same transfers run without contention
    (`contention.serialized_rounds`); None where no link is overfilled, a transfer has no link, or computing it would take too long.
    """

    violations: tuple[Violation, ...]
    quality: Quality | None
    counts: Mapping[str, int] = field(default_factory=dict)
    serialized_rounds: int | None = None

    @property
    def valid(self) -> bool:
        """Whether no rule is broken."""
        return not self.violations and not self.counts

    def title(self) -> str:
        """Whether it is valid."""
        return "valid" if self.valid else "invalid"

    def facts(self) -> dict[str, object]:
        """The quality, or the number of violations of each rule and the first violation."""
        if self.quality is None:
            first = {"first": self.violations[0].message} if self.violations else {}
            return {**self.counts, **first}
        quality = self.quality
        steps = {} if quality.latency_steps is None else {"steps": f"{quality.latency_steps} (bound {quality.latency_bound})"}
        return {
            "bandwidth time": f"{quality.bandwidth_time * quality.scale} M/B (bound {quality.bandwidth_bound * quality.scale})",
            **steps,
        }


class Findings:
    """Collects violations; lists the first LISTED_PER_RULE of each rule by step, in the order of discovery within a step."""

    def __init__(self) -> None:
        self._found: dict[str, list[tuple[int, tuple[int, ...], str]]] = {}
        self._counts: Counter[str] = Counter()
        self.serialized_rounds: int | None = None

    def add(self, rule: str, step: int, rows: tuple[int, ...], message: str) -> None:
        """Add a violation that shows in `step`; ValueError for a rule that is not registered (`certree.verify.rule`)."""
        if rule not in RULES:
            raise ValueError(f"{rule!r} is not a registered rule")
        self._found.setdefault(rule, []).append((step, rows, message))
        self._counts[rule] += 1

    def add_each(self, rule: str, cases: Sequence[int], tell: Callable[[int], tuple[int, tuple[int, ...], str]]) -> None:
        """Add one violation per case; `tell` returns (step, rows, message) and is called for the first LISTED_PER_RULE cases only.

        Cases must come in the order of their steps.
        """
        for case in cases[:LISTED_PER_RULE]:
            self.add(rule, *tell(case))
        self.add_unlisted(rule, len(cases) - LISTED_PER_RULE)

    def add_unlisted(self, rule: str, count: int) -> None:
        """Count `count` more violations of a rule, each later than those added; none when `count` is negative."""
        if count > 0:
            self._counts[rule] += count

    def include(self, other: "Findings", row_of: NDArray[np.int32]) -> None:
        """Add the violations of other findings, with their rows translated to the rows that command them."""
        for rule, found in other._found.items():
            for step, rows, message in found:
                commands = tuple(sorted({int(row_of[row]) for row in rows}))
                where = f"; table rows {list_text(commands)}" if commands else ""
                self.add(rule, step, commands, message + where)
            self.add_unlisted(rule, other._counts[rule] - len(found))
        self.serialized_rounds = other.serialized_rounds

    @property
    def rules(self) -> frozenset[str]:
        """The broken rules so far."""
        return frozenset(self._counts)

    def verdict(self, quality: Quality | None = None) -> Verdict:
        """The verdict; `quality` is kept only without violations."""
        listed = [
            (step, Violation(rule, message, rows))
            for rule, found in self._found.items()
            for step, rows, message in sorted(found, key=itemgetter(0))[:LISTED_PER_RULE]
        ]
        violations = tuple(violation for _, violation in sorted(listed, key=itemgetter(0)))
        return Verdict(violations, None if self._counts else quality, dict(self._counts), self.serialized_rounds)
