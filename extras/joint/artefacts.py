"""Joint schedules in files."""

from collections.abc import Mapping
from typing import Any, ClassVar

from certree.api.artefacts import NO_TRUST, Artefact, Asked, Checked, artefact
from certree.extras.joint.check.joint_checks import verify_joint
from certree.extras.joint.check.joint_report import joint_report, joint_words
from certree.extras.joint.model.joint_file import FORMAT, load_joint
from certree.extras.joint.model.joint_schedule import JointSchedule
from certree.models.common.errors import InputError
from certree.models.common.files import Opened

_STATED = "a joint schedule states the {} of each of its collectives"


@artefact("joint-schedule")
class JointScheduleFile(Artefact):
    """A joint schedule: several collectives at once on one network, each with its schedule and the cycle in which it begins."""

    format = FORMAT
    is_more = True
    refuses: ClassVar[Mapping[str, str]] = {
        "collective": _STATED.format("kind"),
        "root": _STATED.format("root"),
        "size": _STATED.format("size"),
        "machine": "the slots of a joint schedule are for the machine that it states",
        "route": "routes are asked for, which only a CSV may leave open",
        "trust": NO_TRUST,
    }

    def load(self, opened: Opened, asked: Asked) -> JointSchedule:
        """The joint schedule."""
        return load_joint(opened)

    def schedule(self, opened: Opened, asked: Asked) -> Any:
        """None of its own: it has one for each collective."""
        raise InputError(
            f"{opened} is a joint schedule of several collectives; expected a schedule of one; verify and simulate take it"
        )

    def verify(self, opened: Opened, asked: Asked) -> Checked:
        """All rules of its collectives, what they share, and its bounds."""
        verdict = verify_joint(load_joint(opened), asked.topology)
        return Checked(verdict, lambda tell: joint_report(verdict), joint_words, "joint", then=("simulate", opened.path))
