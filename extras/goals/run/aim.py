"""A goal for a size and a machine: what `synthesize --for` takes, and what that costs."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

from certree.models.common.errors import InputError, UnsupportedError
from certree.models.common.extras import import_plug_ins
from certree.models.common.registry import Registry
from certree.models.fine.timed_schedule import timed
from certree.models.machine.clocks import parse_clocks
from certree.models.machine.machine import Machine
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule
from certree.synth.method import Form, Method, Request

HARDWARE = "hardware"
#: what counters may differ by where nothing else is asked for: cycles at the start, and drift in either direction
SKEW, DRIFT = 20, Fraction(50, 1_000_000)


@dataclass(frozen=True)
class Wanted:
    """The conditions that a schedule is wanted for: a message size, a machine, and counters that start up to `skew` cycles apart
    and drift."""

    message_bytes: int
    machine: Machine
    skew: int
    drift: Fraction


#: the schedule itself, or one with the same transfers that reaches the goal; UnsupportedError with the reason where none does
Goal = Callable[[AnySchedule, Wanted], AnySchedule]
GOALS: Registry[Goal] = Registry("goal")
goal = GOALS.register


def load_goals() -> Registry[Goal]:
    """The registry, with all goals imported."""
    import_plug_ins("goals")
    return GOALS


@dataclass(frozen=True)
class Aim:
    """A goal, and what it is for."""

    name: str
    wanted: Wanted

    @property
    def form(self) -> Form:
        """Candidates by the cycles that they take when they reach the goal."""
        return Form(self.words, lambda schedule: self._cycles(self.fitted(schedule)))

    @property
    def words(self) -> str:
        """The goal in words."""
        if self.name != HARDWARE:
            return f"for {self.name}"
        return f"for {self.name} (skew {self.wanted.skew} cycles, drift {float(self.wanted.drift * 10**6):.4g} ppm)"

    def fitted(self, schedule: AnySchedule) -> AnySchedule:
        """The schedule so that it reaches the goal; UnsupportedError with the reason."""
        return load_goals()[self.name](schedule, self.wanted)

    def reached(self, schedule: AnySchedule, method: Method, request: Request) -> AnySchedule:
        """The schedule of a method, changed so that it reaches the goal; its provenance has the cycles of what the method makes
        without one.

        A method that compares candidates makes that anew, which takes as long again.
        """
        made = self.fitted(schedule)
        request.monitor.report(f"{self.name} is reached; now without that goal")
        try:
            plain = replace(request, form=None, monitor=request.monitor.watching())
            fastest = schedule if method.name != "auto" else method(plain)
            cycles = self._cycles(fastest)
        except (UnsupportedError, KeyboardInterrupt):
            return made
        return replace(made, provenance={**made.provenance, "fastest_cycles": cycles})

    def _cycles(self, schedule: AnySchedule) -> int:
        return timed(schedule, self.wanted.message_bytes, self.wanted.machine).cycles


def aim_for(name: str, message_bytes: int, machine: Machine, skew: int | None, drift: str | None) -> Aim:
    """The goal of that name. `drift` as users write it; None is the default of the goal. InputError for an unknown goal, and for
    clocks with another goal than hardware."""
    load_goals()[name]
    if name != HARDWARE:
        if skew or drift is not None:
            raise InputError(f"skew and drift are for the goal {HARDWARE}; the goal is {name}")
        return Aim(name, Wanted(message_bytes, machine, 0, Fraction(0)))
    rate = DRIFT if drift is None else parse_clocks(1, None, drift).drift[0]
    if not 0 <= rate < 1:
        raise InputError(f"drift {drift}; allowed: from 0 to less than 1, in either direction")
    return Aim(name, Wanted(message_bytes, machine, SKEW if skew is None else skew, rate))
