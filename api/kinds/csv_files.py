"""Schedules in CSV files, written by hand."""

from collections.abc import Mapping
from typing import ClassVar

from certree.api.artefacts import NO_TRUST, Artefact, Asked, Checked, artefact
from certree.api.checks.verdicts import checked_schedule
from certree.models.common.errors import InputError
from certree.models.common.files import Opened
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_csv import CSV_HEADER, load_schedule_csv


@artefact("csv")
class CsvFile(Artefact):
    """A schedule as CSV, for a network and a collective that must be given."""

    needs_network = True
    refuses: ClassVar[Mapping[str, str]] = {"trust": NO_TRUST}
    endings = (".csv",)
    own_endings = (".csv",)

    def matches(self, opened: Opened) -> bool:
        """By the header."""
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
        """All rules, and freedom of deadlock on the machine."""
        return checked_schedule(self.load(opened, asked), asked)
