"""Joint schedules that are not model-checked: invalid ones, and those that routers may spoil, by messages that wait for each other
in a circle, or that are late in rows that rely on slots."""

from collections.abc import Sequence
from functools import reduce

from certree.api.api_errors import DeadlockError, InvalidScheduleError
from certree.extras.joint.check.joint_checks import JointVerdict, verify_joint
from certree.extras.joint.model.joint_schedule import JointSchedule
from certree.hw.engines.router_transparency import router_effect
from certree.hw.engines.table_framing import packet_lengths
from certree.models.common.errors import CertreeError
from certree.models.routers.virtual_channels import class_vcs, layer_count
from certree.models.tables.tables import Tables
from certree.verify.deadlock.freedom import Freedom, deadlock
from certree.verify.deadlock.walks import Walks, schedule_walks
from certree.verify.order.agreement import report_late
from certree.verify.order.races import race_of
from certree.verify.verdict import Findings


class InvalidJointError(CertreeError):
    """An invalid joint schedule where a valid one is needed. It has the attribute `verdict`."""

    exit_code = 1

    def __init__(self, verdict: JointVerdict) -> None:
        first = verdict.violations[0]
        super().__init__(f"the schedule is invalid: {first.rule}: {first.message}")
        self.verdict = verdict


def require_joint_valid(joint: JointSchedule) -> None:
    """Raise InvalidJointError, with the first violation, where `verify_joint` finds one. Costs as that."""
    verdict = verify_joint(joint)
    if not verdict.valid:
        raise InvalidJointError(verdict)


def require_joint_free(joint: JointSchedule, tables: Sequence[Tables]) -> None:
    """Raise DeadlockError where messages of all collectives at once may wait for each other in a circle in the routers. `tables`:
    of each collective. UnsupportedError for more virtual channels than the machine has. O(hops of all messages, log)."""
    freedom = joint_freedom(joint, tables)
    if not freedom.free:
        raise DeadlockError(freedom)


def joint_freedom(joint: JointSchedule, tables: Sequence[Tables]) -> Freedom:
    """Whether messages of all collectives at once can deadlock in the routers of the machine, at any timing."""
    layers = max(layer_count(part.schedule.virtual_channel) for part in joint.parts)
    vcs, _ = class_vcs(joint.machine, layers=layers)
    walks = [
        schedule_walks(part.schedule, joint.machine, vcs, max(packet_lengths(one, "message")))
        for part, one in zip(joint.parts, tables, strict=True)
    ]
    is_any = any(part.schedule.has_sizes for part in joint.parts)
    return deadlock(reduce(Walks.joined, walks), joint.machine, any_size=is_any)


def joint_effect(tables: Sequence[Tables]) -> str | None:
    """What the routers of the machine may add to a run of these tables; None where that is nothing."""
    return next(filter(None, (router_effect(one, "message", in_time=True) for one in tables)), None)


def require_joint_in_time(joint: JointSchedule, tables: Sequence[Tables]) -> None:
    """Raise InvalidScheduleError where messages may be late in routers, and only slots keep those of a collective in order.
    Messages of one collective delay those of others. Costs as `race_of` of each."""
    why = joint_effect(tables)
    for part in joint.parts if why is not None else ():
        findings = Findings()
        report_late(race_of(part.schedule), part.schedule, f"{why}, in {part.name}", findings)
        if findings.rules:
            raise InvalidScheduleError(part.schedule, findings.verdict())
