"""The rule `late`: where messages may be late, only schedules whose data are right at any timing (`races`)."""

from certree.models.common.errors import InputError, UnsupportedError
from certree.models.fine.demand import in_fine_slots_if_needed
from certree.models.machine.machine import Machine
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op
from certree.models.schedule.symmetric.symmetric import AnySchedule, written_out
from certree.models.schedule.timing import slotted
from certree.models.tables.table_columns import Profile
from certree.models.tables.tables import Tables
from certree.verify.order.agreement import agreement_of_schedule, agreement_of_tables
from certree.verify.order.races import Race, race_of
from certree.verify.rule import Stage, Subject, check, rule
from certree.verify.verdict import Findings

REPAIRS = "routers that add nothing to lanes, equal clocks and no other traffic, or a method whose rows wait for all (trees)"


@check(Subject.TABLES, Stage.FURTHER)
@rule(
    "late",
    "messages may be late in the routers of the machine, and only slots keep their order; also reported for schedules",
    "tests/verify/order/test_punctual.py",
    Subject.TABLES,
)
def check_late(tables: Tables, findings: Findings) -> None:
    """Report tables that rely on slots where routers may make messages late. For rows without links this is unknown."""
    if findings.rules & {"link", "self", "channel"}:
        return
    try:
        why = agreement_of_tables(tables)
        if why is not None:
            report_late(race_of_tables(tables), tables.schedule, why, findings)
    except InputError:  # no slots or times, which another rule says
        return


def report_late(race: Race | None, plan: Schedule, why: str | None, findings: Findings) -> None:
    """Report a race of a schedule in steps of one round, where messages may be late for the reason `why` (None: they cannot)."""
    if race is not None and why is not None:
        rows = tuple(row for row in (race.first, race.second) if row is not None)
        step = int(plan.step[rows[0]]) if rows else 0
        findings.add("late", step, rows, f"{race_words(race, plan)}; messages may be late: {why}. Repairs: {REPAIRS}")


def race_words(race: Race, plan: Schedule) -> str:
    """What only slots keep in order."""
    where = f"chunk {race.chunk} at node {race.node}"
    if race.second is None:
        return f"{where} {race.what}, which only slots keep apart"
    second = _words(plan, race.second)
    if race.first is None or race.what == "keeps":
        return f"{where}: {second} may come before an earlier transfer that it should follow: only slots keep them in order"
    return f"{where}: {second} may come before {_words(plan, race.first)} has left: only slots keep them in order"


def _words(plan: Schedule, row: int) -> str:
    op = "reduce" if plan.op[row] == Op.REDUCE else "copy"
    return f"the {op} {plan.src[row]}>{plan.dst[row]} of step {plan.step[row]}"


def race_of_tables(tables: Tables) -> Race | None:
    """What only slots keep in order in tables; None for those that are right at any timing, as those of `trees` always are."""
    return None if tables.profile is Profile.TREES else race_of(tables.schedule, tables.in_flight)


def race_of_schedule(schedule: AnySchedule, machine: Machine, message_bytes: int) -> tuple[Race | None, Schedule]:
    """What only slots keep in order where a schedule runs for a message on a machine, and its fine slots or steps of one round:
    itself, and no race, where there are none (several rounds with buffers). Errors as `timing.slotted`."""
    schedule = written_out(schedule)
    try:
        plan = in_fine_slots_if_needed(schedule, message_bytes, machine)
        if plan.slot_cycles is None:
            plan, _ = slotted(plan, message_bytes, machine)
    except UnsupportedError:
        return None, schedule
    return race_of(plan), plan


def lateness(schedule: AnySchedule, machine: Machine, message_bytes: int) -> str | None:
    """Why the data of a valid schedule may be wrong on a machine, in whose routers messages may be late; None where they are right.
    O(transfers log transfers), and as `race_of` where routers may add something."""
    why = agreement_of_schedule(schedule, machine, message_bytes)
    if why is None:
        return None
    race, plan = race_of_schedule(schedule, machine, message_bytes)
    return None if race is None else f"{race_words(race, plan)}; messages may be late: {why}"
