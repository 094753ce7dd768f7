"""A second opinion on schedules: the contract's sentences followed one by one, with whole numbers, by a program of its own."""

from dataclasses import dataclass

from certree.extras.opinion.check.in_cells import check_cells
from certree.extras.opinion.check.in_cycles import Cycles, check_reservations, check_waits, fine_flights
from certree.extras.opinion.check.on_links import check_loads, check_rows, check_shares
from certree.extras.opinion.check.plain_schedule import WrongError, plain
from certree.models.common.errors import UndecidedError
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule


@dataclass(frozen=True)
class SecondOpinion:
    """The answer of the second program to a schedule.

    `valid`: None where it is undecided. `rule`, `step`: of what is wrong first, the step where one is to blame. `reason`: what is
    wrong, or why nothing is decided; empty for a valid schedule.
    """

    valid: bool | None
    reason: str = ""
    rule: str | None = None
    step: int | None = None

    @property
    def words(self) -> str:
        """The opinion in a line."""
        if self.valid is not False:
            return "valid" if self.valid else f"undecided: {self.reason}"
        return f"invalid: {'' if self.step is None else f'step {self.step}: '}{self.reason} ({self.rule})"


def second_opinion(schedule: AnySchedule) -> SecondOpinion:
    """Whether a schedule is valid, by a program that shares only the data model with the checker.

    It executes the transfers one after the other. Data must be there when they are sent, every sum has each contribution once, the
    collective's result is where it is due at the end, and no link carries more than its capacity. It says nothing about freedom of
    deadlock and virtual channels in routers, certificates and bounds, and is undecided for more than 200,000 transfers and links of
    routes. Time and memory are a few operations of Python for each of them.

    Parameters
    ----------
    schedule
        A schedule of any form, also a symmetric one.

    Returns
    -------
    SecondOpinion
        `valid`, and the first thing that is wrong.

    Examples
    --------
    >>> import certree.api as ct
    >>> ct.second_opinion(ct.synthesize("mesh:2x2", method="multitree")).words
    'valid'
    """
    try:
        found = plain(schedule)
        check_rows(found)
        check_shares(found)
        if found.base.slot_cycles is not None:
            cycles = Cycles(found)
            check_reservations(cycles)
            check_waits(cycles)
            flights = fine_flights(cycles)
        else:
            check_loads(found)
            flights = [(row.step, row.step + found.base.delay, row) for row in found.rows]
        check_cells(found, flights)
    except WrongError as wrong:
        return SecondOpinion(False, wrong.reason, wrong.rule, wrong.step)
    except UndecidedError as error:
        return SecondOpinion(None, str(error))
    return SecondOpinion(True)
