"""Joint schedules in files."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from certree.api.artefacts import NO_TRUST, Artefact, Asked, Checked, artefact
from certree.api.checks.verdicts import require_collective
from certree.api.kinds.schedule_files import ScheduleOnPath
from certree.extras.joint.check.joint_checks import verify_joint
from certree.extras.joint.check.joint_report import joint_report, joint_words
from certree.extras.joint.model.joint_file import FORMAT, load_joint
from certree.extras.joint.model.joint_schedule import JointSchedule
from certree.models.common.errors import InputError
from certree.models.common.files import Opened
from certree.models.schedule.schedule import Schedule

_STATED = "a joint schedule states the {} of each of its collectives"


@artefact("joint-schedule")
class JointScheduleFile(Artefact):
    """A joint schedule: several collectives at once on one network, each with its schedule and the cycle in which it begins."""

    format = FORMAT
    is_more = True
    run_by = "runs of joint schedules"
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
        names = ", ".join(part.name for part in load_joint(opened).parts)
        raise InputError(
            f"{opened} is a joint schedule; name the schedule of a collective as {opened}:NAME; its collectives: {names}"
        )

    def verify(self, opened: Opened, asked: Asked) -> Checked:
        """All rules of its collectives, what they share, and its bounds."""
        verdict = verify_joint(load_joint(opened), asked.topology)
        return Checked(verdict, lambda tell: joint_report(verdict), joint_words, "joint", then=("simulate", opened.path))


@artefact("joint-part")
class JointPart(ScheduleOnPath):
    """The schedule of one collective of a joint schedule, named as FILE:NAME."""

    in_folders = False

    def matches(self, opened: Opened) -> bool:
        """Whether the name is FILE:NAME, and FILE is a joint schedule."""
        file, colon, _ = str(opened).rpartition(":")
        return bool(file and colon) and not opened.path.exists() and Opened(Path(file)).format == FORMAT

    def load(self, opened: Opened, asked: Asked) -> Schedule:
        """The schedule; it must be of the collective that is asked for."""
        file, _, name = str(opened).rpartition(":")
        parts = load_joint(Path(file)).parts
        for part in parts:
            if part.name == name:
                require_collective(opened.path, part.schedule, asked.collective)
                return part.schedule
        raise InputError(f"{file} has no collective {name}; it has {', '.join(part.name for part in parts)}")

    schedule = load
