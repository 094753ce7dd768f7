"""Forms of schedules that a consumer takes, and the chain of lowerings that leads to one of them."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from certree.models.common.errors import UnsupportedError
from certree.models.common.registry import Registry, import_folder
from certree.models.forms.schedule_form import PARTS, SYMMETRIC, form_of
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule

_WORDS = {"rounds": "have steps of several rounds", "period": "repeat"}
LOWERINGS: Registry[type["Lowering"]] = Registry("lowering")


class Lowering(ABC):
    """One step from form to form: the same transfers in another form. `removes`: the parts of a form that are gone afterwards."""

    removes: ClassVar[frozenset[str]]
    order_only: ClassVar[bool] = False  # steps may have more messages than links can take

    @abstractmethod
    def apply(self, schedule: AnySchedule) -> Schedule:
        """The schedule in its new form. UnsupportedError where there is none."""


def load_lowerings() -> Registry[type[Lowering]]:
    """The registry, with every module of `lowerings` imported."""
    import_folder("certree.models.forms.lowerings")
    return LOWERINGS


@dataclass(frozen=True)
class Takes:
    """The form that a consumer takes: transfers in steps, with those `parts` of `schedule_form.PARTS` that are named.

    `what`: the consumer in a few words, with which errors begin. `order_only`: it looks at the order of transfers, not at the load
    of links.
    """

    what: str
    parts: frozenset[str]
    order_only: bool = False

    def lowered(self, schedule: AnySchedule) -> Schedule:
        """The schedule in a form that the consumer takes; itself where it has one.

        UnsupportedError names the part of its form that no lowering removes, and why. Time as the lowerings.
        """
        load_lowerings()
        current: AnySchedule = schedule
        while extra := form_of(current) - self.parts:
            current = self._without(current, extra)
        assert isinstance(current, Schedule)
        return current

    def require(self, schedule: Schedule) -> None:
        """Raise UnsupportedError where the schedule has another form: for consumers that need exactly the transfers of its file."""
        if extra := form_of(schedule) - self.parts:
            raise UnsupportedError(self._refusal(extra))

    def _refusal(self, extra: frozenset[str]) -> str:
        """The first of these parts of a form, named as what is not supported."""
        named = next((part for part in PARTS if part in extra), SYMMETRIC)
        return f"{self.what}: not supported for schedules that {_WORDS.get(named, f'use {named} (version 2)')}"

    def _without(self, schedule: AnySchedule, extra: frozenset[str]) -> Schedule:
        """The schedule after the first lowering that removes any of these parts of its form, and adds none that it has removed."""
        reasons = []
        for name in LOWERINGS:
            lowering = LOWERINGS[name]
            if lowering.removes & extra and lowering.order_only <= self.order_only:
                try:
                    return lowering().apply(schedule)
                except UnsupportedError as error:
                    reasons.append(f": {error}")
        raise UnsupportedError(self._refusal(extra) + "".join(reasons))


def takes(what: str, *parts: str, order_only: bool = False, rounds: bool = True, repeats: bool = True) -> Takes:
    """A consumer that takes these parts, steps of any number of `rounds`, and iterations that overlap (`repeats`)."""
    others = {"rounds": rounds, "period": repeats}
    return Takes(what, frozenset((*parts, *(name for name, taken in others.items() if taken))), order_only)
