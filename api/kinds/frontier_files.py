"""Frontiers with their proofs."""

from collections.abc import Mapping
from typing import Any, ClassVar

from certree.api.artefacts import NO_TRUST, Artefact, Asked, Checked, artefact
from certree.api.reports.frontier_report import frontier_report, frontier_words
from certree.models.common.errors import InputError
from certree.models.common.files import Opened
from certree.verify.frontier.document import check_frontier

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

    def verify(self, opened: Opened, asked: Asked) -> Checked:
        """Schedules and proofs of all points; the frontier must be of the network and the collective that are asked for."""
        verdict = check_frontier(opened.document(), str(opened), asked.topology)
        if asked.collective is not None and asked.collective != verdict.collective:
            raise InputError(f"{opened}: the collective is {verdict.collective.words}, not {asked.collective.words}")
        return Checked(verdict, lambda tell: frontier_report(verdict), frontier_words, "frontier")
