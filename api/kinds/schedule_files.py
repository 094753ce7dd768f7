"""Schedules in files: certree's own, written out or symmetric, and CSV written by hand."""

from collections.abc import Mapping
from typing import ClassVar

from certree.api.artefacts import NO_TRUST, Artefact, Asked, Checked, artefact
from certree.api.checks.verdicts import checked_schedule, require_collective
from certree.models.common.errors import InputError
from certree.models.common.files import Opened
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_csv import CSV_HEADER, load_schedule_csv
from certree.models.schedule.schedule_file import HEAD, SUFFIXES
from certree.models.schedule.symmetric.symmetric_file import load_any_schedule
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule

_ARCHIVE = b"PK\x03\x04"  # .npz files are archives of arrays


class ScheduleOnPath(Artefact):
    """A path that holds a schedule with its network."""

    refuses: ClassVar[Mapping[str, str]] = {
        "route": "routes are asked for, which only a CSV may leave open; other schedules state theirs",
        "trust": NO_TRUST,
    }

    def load(self, opened: Opened, asked: Asked) -> AnySchedule:
        """The schedule; it must be of the collective that is asked for."""
        schedule = load_any_schedule(opened)
        require_collective(opened.path, schedule, asked.collective)
        return schedule

    schedule = load

    def verify(self, opened: Opened, asked: Asked) -> Checked:
        """Check all rules, the certificate, and freedom of deadlock on the machine that is asked for or recorded."""
        schedule = self.load(opened, asked)
        return checked_schedule(schedule, asked, then=("export", opened.path, "-o", "tables"))


@artefact("schedule")
class ScheduleFile(ScheduleOnPath):
    """A schedule: JSON, JSON compressed by gzip, or .npz."""

    format = "certree-schedule"
    endings = SUFFIXES
    own_endings = (".npz",)

    def matches(self, opened: Opened) -> bool:
        """Whether a file states this format, or is an archive of arrays."""
        return super().matches(opened) or (opened.start[:4] == _ARCHIVE and opened.start[30:].startswith(HEAD.encode()))


@artefact("symmetric-schedule")
class SymmetricScheduleFile(ScheduleOnPath):
    """A symmetric schedule: base transfers and a group, as JSON."""

    format = "certree-symmetric-schedule"


@artefact("csv")
class CsvFile(Artefact):
    """A schedule as CSV, for a network and a collective that must be given."""

    needs_network = True
    refuses: ClassVar[Mapping[str, str]] = {"trust": NO_TRUST}
    endings = (".csv",)
    own_endings = (".csv",)

    def matches(self, opened: Opened) -> bool:
        """Whether a file begins with the header of this format."""
        header = opened.start.removeprefix(b"\xef\xbb\xbf").split(b"\n", 1)[0].split(b",")
        return [cell.strip().decode("utf-8", "replace") for cell in header[: len(CSV_HEADER)]] == CSV_HEADER

    def load(self, opened: Opened, asked: Asked) -> Schedule:
        """The schedule on the network that is asked for."""
        if asked.topology is None or asked.collective is None:
            asking = "verify and certify take it with --topology and --collective (and --root)"
            raise InputError(f"{opened}: a CSV does not say its network; {asking}")
        return load_schedule_csv(opened, asked.topology, asked.collective, asked.route)

    schedule = load

    def verify(self, opened: Opened, asked: Asked) -> Checked:
        """Check all rules, and freedom of deadlock on the machine."""
        return checked_schedule(self.load(opened, asked), asked)
