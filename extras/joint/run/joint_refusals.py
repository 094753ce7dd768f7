"""Joint schedules that are not run or model-checked, since they are invalid."""

from certree.extras.joint.check.joint_checks import JointVerdict, verify_joint
from certree.extras.joint.model.joint_schedule import JointSchedule
from certree.models.common.errors import CertreeError


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
