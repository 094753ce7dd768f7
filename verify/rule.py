"""The rules of the checkers, and the functions that check them; both are registered by decorator.

    @check()
    @rule("long-route", "a route has more than 8 links", example="ring:12 all-gather: copy 0 0>9 @0 via 0>1>2>3>4>5>6>7>8>9")
    def check_route_lengths(schedule: Schedule, findings: Findings) -> None: ...

`example` breaks the rule. For a schedule it has the network, the collective (`broadcast@1`: from node 1), fields such as
`period=2`, a colon, and the transfers `OP CHUNK SRC>DST @STEP`, with `via NODES` where they have routes; `3.1` is buffer 1 of node
3. For anything else it lists the changed entries of a correct document, or of correct tables, as `PATH = JSON`. Semicolons separate
several. Where no such text can break the rule, or only a long one, `example` is the file of the test that does, with the rule's
name in double quotes. `tests/verify/provoke.py` reads the examples; `docs/reference/rules.md` lists them.

Every check runs on every schedule whose structure is right, and what it reports makes the schedule invalid: no rule is off by
default. Where a rule of STRUCTURAL is broken, only the checks of the first stages run (`run_checks`).
"""

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import Any, TypeVar

from certree.models.common.extras import import_plug_ins
from certree.models.common.registry import Registry, import_folder
from certree.models.schedule.schedule_columns import Slots

_Function = TypeVar("_Function", bound=Callable[..., Any])


class Subject(StrEnum):
    """The subject of a rule."""

    SCHEDULES = "schedules"
    SYMMETRIC = "symmetric schedules"
    CERTIFICATES = "certificates"
    BOUNDS = "bounds"
    PROOFS = "proofs"
    FRONTIERS = "frontiers"
    TABLES = "tables"
    PROGRAMS = "programs"
    JOINT = "joint schedules"


class Stage(IntEnum):
    """The stage in which a check runs; among the violations of one step, a verdict lists those of earlier stages first."""

    FORM = 0
    WIRING = 1
    LOAD = 2
    CONTENTS = 3
    FURTHER = 4


@dataclass(frozen=True)
class Rule:
    """One rule: its name, what breaks it, an example of that, and its subject."""

    name: str
    meaning: str
    example: str
    about: Subject

    def __post_init__(self) -> None:
        object.__setattr__(self, "__doc__", f"{self.meaning} ({self.about})\n\nFor example: {self.example}")


@dataclass(frozen=True)
class Check:
    """A function `(schedule or tables, findings)` that reports violations.

    `base_suffices`: the images of the base chunks of a symmetric schedule break the same rules as the base chunks, and no others;
    so the function is called on the base alone, which has no routes. Other functions are called on all transfers, written out;
    UnsupportedError for a schedule of more transfers than `written_out` allows. `slots`: the forms of slots that it is about; it is
    not called on schedules of other forms.
    """

    run: Callable[[Any, Any], None]
    about: Subject
    stage: Stage
    base_suffices: bool
    slots: frozenset[Slots] = frozenset(Slots)


#: rules of structure: without them the rows run between nodes and along links that the network has
STRUCTURAL = frozenset({"self", "link"})
RULES: Registry[Rule] = Registry("rule")
_CHECKS: list[Check] = []


def rule(name: str, meaning: str, example: str, about: Subject = Subject.SCHEDULES) -> Callable[[_Function], _Function]:
    """Register the rule that the decorated function reports or raises; `Findings` accepts registered rules only."""
    RULES.register(name)(Rule(name, meaning, example, about))
    return lambda function: function


def check(
    about: Subject = Subject.SCHEDULES,
    stage: Stage = Stage.FURTHER,
    *,
    base_suffices: bool = False,
    slots: Iterable[Slots] = tuple(Slots),
) -> Callable[[_Function], _Function]:
    """Register the decorated function as a check of all schedules with these forms of slots, or of all tables."""

    def add(function: _Function) -> _Function:
        _CHECKS.append(Check(function, about, stage, base_suffices, frozenset(slots)))
        return function

    return add


def run_checks(about: Subject, subject: Any, findings: Any, *stages: Stage) -> None:
    """Call the checks of the given stages (all by default) in order. Those behind stage WIRING analyse rows whose links exist: they
    are not called once a rule of STRUCTURAL is broken."""
    for entry in checks(about, *stages):
        if entry.stage > Stage.WIRING and findings.rules & STRUCTURAL:
            return
        if about is not Subject.SCHEDULES or subject.slots in entry.slots:
            entry.run(subject, findings)


def checks(about: Subject, *stages: Stage) -> list[Check]:
    """The checks of the given stages (all by default), in order; within a stage by module, then by position."""
    for part in ("rules",) if about is Subject.SCHEDULES else ("tables", "deadlock"):
        import_folder(f"certree.verify.{part}")
    import_plug_ins("rules")
    kept = [entry for entry in _CHECKS if entry.run.__module__ in sys.modules]  # without those of plug-ins that are switched off
    found = [entry for entry in kept if entry.about is about and entry.stage in (stages or Stage)]
    return sorted(found, key=lambda entry: (entry.stage, entry.run.__module__))


def load_rules() -> Registry[Rule]:
    """The registry, with every module of the checkers imported."""
    for part in ("rules", "bounds", "certificates", "exact", "frontier", "tables", "deadlock"):
        import_folder(f"certree.verify.{part}")
    import_plug_ins("rules")
    return RULES
