"""Whether a slotted run with equal clocks takes the same cycles through the routers of a machine as on lanes.

Also the rule `late`: where messages may be late, only schedules whose data are right at any timing are valid (`races`).
"""

import numpy as np

from certree.models.common.errors import InputError, UnsupportedError
from certree.models.fine.timed_schedule import timed
from certree.models.machine.machine import Machine
from certree.models.routers.transparency import (
    SHARED_INTERFACE,
    has_routers,
    pass_without_waiting,
    pipeline_effect,
    schedule_effect,
)
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule, SymmetricSchedule, written_out
from certree.models.schedule.timing import chunk_bytes_of, message_flits, packet_lengths
from certree.models.tables.table_columns import Profile
from certree.models.tables.tables import Tables
from certree.verify.order.races import Race, race_of
from certree.verify.rule import Stage, Subject, check, rule
from certree.verify.verdict import Findings

REPAIRS = "routers that add nothing to lanes, equal clocks and no other traffic, or a method whose rows wait for all (trees)"


def agreement_of_schedule(
    schedule: AnySchedule, machine: Machine, message_bytes: int, framing: str | None = None, slot_cycles: int | None = None
) -> str | None:
    """The effect that routers may add to the closed form of a schedule; None: both agree to the cycle (`schedule_effect`).

    `framing`: how chunks are framed, "message" or "packet"; None: whole messages. `slot_cycles`: the length of the slots of its
    tables, by default as long as needed. A symmetric schedule is written out where its slots may matter, if it is not too large.
    O(transfers log transfers).
    """
    chunk = chunk_bytes_of(message_bytes, schedule.message_chunks, schedule.repeats, machine)
    lengths = packet_lengths(chunk, machine, framing or "message")
    if isinstance(schedule, SymmetricSchedule):
        effect = pipeline_effect(schedule.topology, machine, min(lengths), max(lengths), is_far=False)
        if machine.router.interfaces == "node" and has_routers(machine):
            effect = SHARED_INTERFACE
    else:
        effect = schedule_effect(schedule, machine, lengths)
    if effect is None:
        return None
    try:
        run = timed(written_out(schedule), message_bytes, machine)
    except InputError:  # too large to be written out, or without slots
        return effect
    stated = None if run.schedule.has_fine_slots else slot_cycles
    return schedule_effect(run.schedule, machine, lengths, stated or run.slot_cycles)


def waits_for_credits(schedule: AnySchedule, machine: Machine, message_bytes: int) -> bool:
    """Whether messages are so long that they wait for credits in the routers of the machine, which its closed form leaves out.
    False for a schedule for a demand. O(links), and as `agreement_of_schedule` where they may."""
    if schedule.collective.demand is not None:
        return False
    chunk = chunk_bytes_of(message_bytes, schedule.message_chunks, schedule.repeats, machine)
    flits = np.array([message_flits(chunk, machine)])
    if pass_without_waiting(schedule.topology, machine, flits).all():
        return False
    return agreement_of_schedule(schedule, machine, message_bytes) is not None


def agreement_of_tables(tables: Tables, framing: str | None = None) -> str | None:
    """The result of `agreement_of_schedule` for the schedule that the rows execute, with the slots of the tables."""
    lengths = packet_lengths(tables.chunk_bytes, tables.machine, framing or "message")
    return schedule_effect(tables.schedule, tables.machine, lengths, tables.slot_cycles)


@check(Subject.TABLES, Stage.FURTHER)
@rule(
    "late",
    "messages may be late in routers of the machine, and only slots keep their order; also reported for schedules and joint ones",
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
    except InputError:  # no slots or times, which another rule reports
        return


def report_late(race: Race | None, plan: Schedule, why: str | None, findings: Findings) -> None:
    """Report a race of a schedule in steps of one round, where messages may be late for the reason `why` (None: they cannot)."""
    if race is not None and why is not None:
        rows = tuple(row for row in (race.first, race.second) if row is not None)
        step = int(plan.step[rows[0]]) if rows else 0
        findings.add("late", step, rows, f"{race_words(race, plan)}; messages may be late: {why}. Repairs: {REPAIRS}")


def race_words(race: Race, plan: Schedule) -> str:
    """The uses that only slots keep in order, in words."""
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
    """The uses that only slots keep in order in tables; None for those that are right at any timing, such as those of `trees`."""
    return None if tables.profile is Profile.TREES else race_of(tables.schedule, tables.in_flight)


def race_of_schedule(schedule: AnySchedule, machine: Machine, message_bytes: int) -> tuple[Race | None, Schedule]:
    """The uses that only slots keep in order where a schedule runs for a message on a machine, and the schedule in fine slots or
    steps of one round; no race, and the schedule itself, where it has neither (several rounds with buffers). Errors as
    `timing.slotted`."""
    schedule = written_out(schedule)
    try:
        plan = timed(schedule, message_bytes, machine).schedule
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
