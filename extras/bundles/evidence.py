"""Items of evidence: how each gets into a bundle, and how it is re-checked from there."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any, ClassVar

from certree.api.settings import Tell, silent
from certree.extras.bundles import reading
from certree.extras.bundles.model.bundle import Bundle, Item
from certree.extras.joint.model.joint_schedule import JointSchedule
from certree.models.common.errors import UnsupportedError
from certree.models.common.registry import Registry, import_folder
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule
from certree.models.tables.tables import Tables
from certree.verify.checker import verify_schedule
from certree.verify.verdict import Verdict

TRUST = ("hashes", "none")  # what `verify` takes on trust: the results of TLC, by hash; or nothing that it can run again


class Status(StrEnum):
    """The outcome of the check of an item."""

    RECHECKED = "re-checked"  #: recomputed from the members by the checker
    RERAN = "re-ran"  #: run again, with the result that the bundle states
    TRUSTED = "trusted"  #: taken on trust: the text says what
    ABSENT = "absent"  #: the bundle has no such evidence: the text says why
    FAILED = "failed"  #: the evidence is wrong, or not about this subject
    SKIPPED = "skipped"  #: not checked, since another item, which it needs, failed


@dataclass(frozen=True)
class ItemResult:
    """The result for one item: its name, what was done about it, and one line about it."""

    name: str
    status: Status
    text: str

    @property
    def passed(self) -> bool:
        """Whether nothing is wrong with it."""
        return self.status not in (Status.FAILED, Status.SKIPPED)


@dataclass(frozen=True, eq=False)
class Source:
    """The source of a bundle: a certified schedule that records its size and machine, with `tables` where it has some, else
    `no_tables`, the reason; or the document of a checked frontier; or a checked joint schedule.

    `runs`: the modes that are simulated, `without_routers` or with them. `tla`: whether TLC runs. `tell` receives lines of
    progress.
    """

    schedule: AnySchedule | None = None
    tables: Tables | None = None
    no_tables: str = ""
    frontier: Mapping[str, Any] | None = None
    joint: JointSchedule | None = None
    format: str = "readmemh"
    runs: tuple[str, ...] = ("slotted",)
    without_routers: bool = False
    tla: bool = True
    tell: Tell = silent

    @property
    def kind(self) -> str:
        """One of KINDS."""
        if self.joint is not None:
            return "joint-schedule"
        return "frontier" if self.schedule is None else "schedule"

    @property
    def given(self) -> AnySchedule:
        """The schedule; there must be one."""
        assert self.schedule is not None
        return self.schedule


@dataclass(frozen=True, eq=False)
class Opened:
    """A bundle that is being checked, and what several items need of it, computed once. `tell` as in `Source`."""

    bundle: Bundle
    trust: str = TRUST[0]
    tell: Tell = silent
    results: list[ItemResult] = field(default_factory=list)

    @cached_property
    def verdict(self) -> Verdict:
        """The verdict on the schedule and its certificate."""
        return verify_schedule(self.bundle.schedule)

    @cached_property
    def joint(self) -> JointSchedule:
        """The joint schedule of the bundle."""
        return reading.joint(self.bundle)

    @cached_property
    def tables(self) -> Tables | None:
        """The tables, None where the bundle has none."""
        return reading.tables(self.bundle)


class Evidence:
    """One kind of evidence. Its docstring says what it shows; the first line is its entry in RECHECK.md.

    `of`: the kind of bundle; `needs`: items that must be right before this one can be checked; `by_hand`: how to re-check it with
    other tools, for RECHECK.md.
    """

    of: ClassVar[str] = "schedule"
    needs: ClassVar[tuple[str, ...]] = ("schedule",)
    by_hand: ClassVar[str] = ""

    def collect(self, source: Source) -> Mapping[str, bytes]:
        """The members of this item; UnsupportedError, with the reason, where there is no such evidence."""
        raise NotImplementedError

    def recheck(self, name: str, opened: Opened) -> Iterator[ItemResult]:
        """The result for evidence that the bundle has; any CertreeError makes it a failed item."""
        raise NotImplementedError

    def recheck_absence(self, name: str, item: Item, opened: Opened) -> Iterator[ItemResult]:
        """Check evidence that the bundle says it does not have."""
        yield ItemResult(name, Status.ABSENT, str(item.absent))


EVIDENCE: Registry[type[Evidence]] = Registry("item of evidence")


def all_evidence() -> Registry[type[Evidence]]:
    """The registry, with every module of `certree.extras.bundles.items` imported."""
    import_folder("certree.extras.bundles.items")
    return EVIDENCE


def load_evidence(kind: str) -> dict[str, Evidence]:
    """The kinds of evidence for a kind of bundle, each after those that it needs, else by name."""
    found = {name: entry() for name in all_evidence() if (entry := EVIDENCE[name]).of == kind}

    def depth(name: str) -> int:
        return 1 + max((depth(other) for other in found[name].needs), default=0)

    return dict(sorted(found.items(), key=lambda entry: (depth(entry[0]), entry[0])))


def absent(reason: str) -> UnsupportedError:
    """The error for evidence that a source does not have."""
    return UnsupportedError(reason)
