"""Frontiers with their proofs, and their points as schedules."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from certree.api.artefacts import NO_TRUST, Artefact, Asked, Checked, artefact
from certree.api.checks.verdicts import require_collective
from certree.api.kinds.schedule_files import ScheduleOnPath
from certree.extras.frontiers.check.frontier_report import frontier_report, frontier_words
from certree.models.common.errors import InputError
from certree.models.common.files import Opened
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_file import schedule_from_document
from certree.verify.exact.question import Point
from certree.verify.frontier.document import check_frontier, read_frontier

_POINT = re.compile(r"(.+):([0-9]+,[0-9]+,[0-9]+)", re.DOTALL)
_NO_CYCLES = "a frontier is of steps and rounds; size and machine do not apply"


@artefact("frontier")
class FrontierFile(Artefact):
    """A frontier: the best schedules of a small network, and the proofs that there are no better ones."""

    format = "certree-frontier"
    refuses: ClassVar[Mapping[str, str]] = {"size": _NO_CYCLES, "machine": _NO_CYCLES, "trust": NO_TRUST}

    def load(self, opened: Opened, asked: Asked) -> dict[str, Any]:
        """The JSON document."""
        document: dict[str, Any] = opened.document()
        return document

    def schedule(self, opened: Opened, asked: Asked) -> Schedule:
        """None of its own; InputError says how to name a point."""
        points = points_words(read_frontier(opened.document(), str(opened))[1]["points"])
        raise InputError(f"{opened} is a frontier; name the schedule of a point as {opened}:C,S,R; its points: {points}")

    def verify(self, opened: Opened, asked: Asked) -> Checked:
        """Schedules and proofs of all points; the frontier must be of the network and the collective that are asked for."""
        verdict = check_frontier(opened.document(), str(opened), asked.topology)
        if asked.collective is not None and asked.collective != verdict.collective:
            raise InputError(f"{opened}: the collective is {verdict.collective.words}, not {asked.collective.words}")
        return Checked(verdict, lambda tell: frontier_report(verdict), frontier_words, "frontier")


@artefact("frontier-point")
class FrontierPoint(ScheduleOnPath):
    """The schedule of a point of a frontier, named as FILE:C,S,R: chunks, steps and rounds."""

    in_folders = False

    def matches(self, opened: Opened) -> bool:
        """Whether the path ends in the name of a point, in front of which there is a frontier."""
        found = None if opened.path.exists() else _POINT.fullmatch(str(opened))
        return found is not None and Opened(Path(found[1])).format == FrontierFile.format

    def load(self, opened: Opened, asked: Asked) -> Schedule:
        """The schedule; it must be of the collective that is asked for."""
        file, _, point = str(opened).rpartition(":")
        chunks, steps, rounds = map(int, point.split(","))
        schedule = schedule_at(Opened(Path(file)), (chunks, steps, rounds))
        require_collective(opened.path, schedule, asked.collective)
        return schedule

    schedule = load


def schedule_at(opened: Opened, point: Point) -> Schedule:
    """The schedule of a point of the frontier in a file; InputError names the points that there are."""
    entries = read_frontier(opened.document(), str(opened))[1]["points"]
    for entry in entries:
        if tuple(entry["point"]) == point:
            return schedule_from_document(entry["schedule"], f"{opened}: point {entry['point']}")
    raise InputError(f"{opened} has no point {','.join(map(str, point))}; it has {points_words(entries)}")


def points_words(entries: list[Any]) -> str:
    """The points of these entries of a frontier, as they are named."""
    return ", ".join(",".join(map(str, entry["point"])) for entry in entries) or "none"
