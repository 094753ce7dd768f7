"""The schedule, its bounds, and the proofs that no schedule has fewer steps or is better: one file, one verdict of the checker."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import ClassVar

from certree.api.reports.text import counted, gap_words, kind_words
from certree.extras.bundles.evidence import EVIDENCE, Evidence, ItemResult, Opened, Source, Status, absent
from certree.extras.bundles.model.bundle import SCHEDULE, Item
from certree.models.common.files import canonical_json
from certree.models.schedule.symmetric.symmetric_file import any_schedule_document
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule
from certree.verify.rule import Subject, load_rules
from certree.verify.verdict import Quality, Violation

BOUNDS, PROOFS = (Subject.CERTIFICATES, Subject.BOUNDS), (Subject.PROOFS,)
CERTIFICATES = (*BOUNDS, *PROOFS)


@EVIDENCE.register("schedule")
class ScheduleEvidence(Evidence):
    """every node ends with the data that it is due, and no link carries more than it can"""

    needs = ()
    by_hand = "`unzip F.certree schedule.json && certree verify schedule.json`"

    def collect(self, source: Source) -> Mapping[str, bytes]:
        """The schedule, with its certificate."""
        return {SCHEDULE: canonical_json(any_schedule_document(source.given))}

    def recheck(self, name: str, opened: Opened) -> Iterator[ItemResult]:
        """Check all rules for transfers."""
        schedule, rules = opened.bundle.schedule, load_rules()
        found = [one for one in opened.verdict.violations if rules[one.rule].about not in CERTIFICATES]
        told = f"{counted(schedule.transfers, 'transfers')} break no rule; SHA-256 {schedule.digest}"
        yield _result(name, found, told)


@EVIDENCE.register("bounds")
class BoundsEvidence(Evidence):
    """no schedule for this network, collective, shares and delay, and order of additions where the bound is of kind order, has less
    bandwidth time, or, unless routes pass endpoints, fewer steps"""

    by_hand = "`certificate` in schedule.json; docs/reference/checker.md says what each kind of witness has to show"

    def collect(self, source: Source) -> Mapping[str, bytes]:
        """No members of its own: the certificate is in the schedule's file."""
        if source.given.certificate is None:
            raise absent("the schedule has no certificate")
        return {}

    def recheck(self, name: str, opened: Opened) -> Iterator[ItemResult]:
        """Check the witness of each bound, and the claims that follow from it."""
        schedule = opened.bundle.schedule
        if schedule.certificate is None:
            yield ItemResult(name, Status.FAILED, "the schedule has no certificate")
            return
        found = _violations(opened, BOUNDS)
        quality = opened.verdict.quality
        told = "" if quality is None else _words(schedule, quality)
        yield _result(name, found, told or "each witness shows the bound that is stated")


class _ProofEvidence(Evidence):
    """A claim in the certificate with its proofs."""

    claim: ClassVar[str]  # its key

    def collect(self, source: Source) -> Mapping[str, bytes]:
        """No members of its own: the claim and its proof are in the certificate."""
        if not self._is_claimed(source.given):
            raise absent("no such claim is made")
        return {}

    def recheck(self, name: str, opened: Opened) -> Iterator[ItemResult]:
        """Check the proofs, without a solver."""
        start, quality = f"certificate: {self.claim}: ", opened.verdict.quality
        found = [one for one in opened.verdict.violations if one.message.startswith(start)]
        if not found and not self._is_claimed(opened.bundle.schedule):
            yield ItemResult(name, Status.FAILED, "the certificate makes no such claim")
            return
        yield _result(name, found, "" if quality is None else self.told(opened.bundle.schedule, quality))

    def recheck_absence(self, name: str, item: Item, opened: Opened) -> Iterator[ItemResult]:
        """The certificate must make no such claim; one in a bundle that does not know of the item is checked."""
        is_claimed = self._is_claimed(opened.bundle.schedule)
        if is_claimed and all(one.name != name for one in opened.bundle.items):
            yield from self.recheck(name, opened)
        elif is_claimed:
            yield ItemResult(name, Status.FAILED, "the certificate claims it, although the bundle says that it does not")
        else:
            yield from super().recheck_absence(name, item, opened)

    def told(self, schedule: AnySchedule, quality: Quality) -> str:
        """The proved statements, in words."""
        raise NotImplementedError

    def _is_claimed(self, schedule: AnySchedule) -> bool:
        return schedule.certificate is not None and self.claim in schedule.certificate


@EVIDENCE.register("fewest-steps")
class FewestEvidence(_ProofEvidence):
    """no schedule with as many chunks has fewer steps, on the machine that the claim describes (steps of one round, delay 1)"""

    claim = "fewest_steps"
    by_hand = "`fewest_steps` of the certificate in schedule.json: a refutation of one step less, checked line by line"

    def told(self, schedule: AnySchedule, quality: Quality) -> str:
        """The steps and the kind of proof."""
        return f"{counted(schedule.steps, 'steps')}: the proof of one step less is right ({quality.fewest_steps})"


@EVIDENCE.register("optimum")
class OptimumEvidence(_ProofEvidence):
    """no schedule with as many chunks, steps and rounds per chunk has fewer of any, on the machine of the claim (delay 1)"""

    claim = "optimum"
    by_hand = "`optimum` of the certificate in schedule.json: a refutation of every point that could be as good"

    def told(self, schedule: AnySchedule, quality: Quality) -> str:
        """The point."""
        return f"{quality.optimum} (chunks, steps, rounds): the proofs against all points that could be as good are right"


@EVIDENCE.register("fewest-cycles")
class CyclesEvidence(_ProofEvidence):
    """no schedule with fine slots and equal chunks is over in fewer cycles, for the size and machine of the schedule"""

    claim = "fewest_cycles"
    by_hand = "`fewest_cycles` of the certificate in schedule.json: refutations of one cycle less, checked line by line"

    def told(self, schedule: AnySchedule, quality: Quality) -> str:
        """The cycles."""
        return f"{counted(quality.fewest_cycles or 0, 'cycles')}: the proofs of one cycle less are right"


def _violations(opened: Opened, about: tuple[Subject, ...]) -> list[Violation]:
    """The broken rules of the certificate about these subjects."""
    rules = load_rules()
    return [one for one in opened.verdict.violations if rules[one.rule].about in about]


def _result(name: str, found: list[Violation], told: str) -> ItemResult:
    if found:
        return ItemResult(name, Status.FAILED, f"{found[0].rule}: {found[0].message}")
    return ItemResult(name, Status.RECHECKED, told)


def _words(schedule: AnySchedule, quality: Quality) -> str:
    """Bandwidth time and latency with their bounds, in words."""
    kinds = {witness["quantity"]: kind_words(witness) for witness in quality.witnesses}
    if quality.any_shares is not None and Fraction(quality.any_shares["value"]) != quality.bandwidth_bound:
        kinds["bandwidth"] += f", {quality.witnesses[0]['class'][0]}"
    values = (
        (
            "bandwidth",
            "bandwidth time",
            str(quality.bandwidth_time * quality.scale),
            quality.bandwidth_bound * quality.scale,
            "M/B",
        ),
        ("latency", "latency", quality.latency_steps, quality.latency_bound, "steps"),
    )
    told = []
    for key, name, value, bound, unit in values:
        if value is None:  # fine slots are no steps to be counted
            continue
        gap = quality.gap[key]
        answer = "optimal" if key in quality.optimal_in else f"gap {gap_words(None if gap is None else str(gap))}"
        told.append(f"{name} {counted(value, unit)}, bound {bound} ({kinds[key]}): {answer}")
    if quality.any_shares is not None and Fraction(quality.any_shares["value"]) != quality.bandwidth_bound:
        least = Fraction(quality.any_shares["value"])
        over = gap_words(str(quality.bandwidth_time / least - 1))
        told.insert(1, f"with any shares bound {least * quality.scale} M/B: gap {over}")
    return "; ".join(told)
