"""Verdicts on schedules for a machine: the routes of a valid schedule must be free of deadlock in its routers, and its messages in
time or in any order."""

from certree.models.common.budget import budgeted
from certree.models.common.errors import UnsupportedError
from certree.models.machine.machine import Machine
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule
from certree.models.tables.tables import Tables
from certree.verify.deadlock.freedom import Freedom, deadlock_of_schedule, deadlock_of_tables
from certree.verify.order.agreement import race_of_schedule, report_late
from certree.verify.rule import Stage, Subject, check, rule
from certree.verify.verdict import Findings, Verdict


@budgeted()
def verdict_on_machine(schedule: AnySchedule, verdict: Verdict, machine: Machine, message_bytes: int) -> Verdict:
    """The verdict on a schedule that is to run on a machine: that of `verify_schedule`, and for a valid schedule the rules
    `channel`, `deadlock` and, where routers may make messages late, `late`. O(transfers log transfers + hops, log), for `late` as
    `race_of`."""
    if not verdict.valid:
        return verdict
    findings = _on_machine(schedule, machine, message_bytes)
    return verdict if not findings.rules else findings.verdict()


def refusal(schedule: AnySchedule, machine: Machine, message_bytes: int) -> str | None:
    """Why a valid schedule cannot run on a machine, by the rules of `verdict_on_machine`; None where it can."""
    found = _on_machine(schedule, machine, message_bytes).verdict().violations
    return f"{found[0].rule}: {found[0].message}" if found else None


def _on_machine(schedule: AnySchedule, machine: Machine, message_bytes: int) -> Findings:
    findings = Findings()
    try:
        freedom = deadlock_of_schedule(schedule, machine, message_bytes)
        report_deadlock(freedom, findings)
    except UnsupportedError as error:
        findings.add("channel", 0, (), str(error))
    else:
        if freedom.agreement is not None:
            report_late(*race_of_schedule(schedule, machine, message_bytes), freedom.agreement, findings)
    return findings


@check(Subject.TABLES, Stage.FURTHER)
@rule(
    "channel",
    "routes use virtual channels that the routers of the machine do not have; also reported for schedules and joint ones",
    "tests/verify/deadlock/test_deadlock_verdicts.py",
    Subject.TABLES,
)
@rule(
    "deadlock",
    "messages may wait for each other in a circle in the routers of the machine; also reported for schedules and joint ones",
    "tests/verify/deadlock/test_deadlock_verdicts.py",
    Subject.TABLES,
)
def check_deadlock(tables: Tables, findings: Findings) -> None:
    """Report tables whose messages may deadlock in the routers of their machine. Without links this is unknown."""
    if findings.rules & {"link", "self"}:
        return
    try:
        report_deadlock(deadlock_of_tables(tables), findings)
    except UnsupportedError as error:
        findings.add("channel", 0, (), str(error))


def report_deadlock(freedom: Freedom, findings: Findings) -> None:
    """Report routes that are not free of deadlock."""
    if not freedom.free:
        findings.add("deadlock", 0, (), freedom.explanation())
