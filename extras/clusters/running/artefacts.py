"""Graph dumps and logs of NCCL as kinds of artefacts: with a network they are schedules."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from certree.api import parsing
from certree.api.artefacts import NO_TRUST, Artefact, Asked, Checked, artefact
from certree.api.checks.verdicts import checked_schedule
from certree.api.inputs import size_or_default
from certree.api.settings import machine_for
from certree.extras.clusters.running.channels import RING, TREE, Channels
from certree.extras.clusters.running.graph_dump import read_graph_dump
from certree.extras.clusters.running.lowering import running_schedule
from certree.extras.clusters.running.nccl_log import has_channels, read_log
from certree.models.common.errors import InputError
from certree.models.common.files import Opened
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_file import SUFFIXES
from certree.synth.method import Request

_NAMED = re.compile(f"(?P<file>.+?)(?::(?P<number>[0-9]{{1,6}}))?(?::(?P<kind>{RING}|{TREE}))?", re.DOTALL)


class Running(Artefact):
    """The algorithms that NCCL found: `FILE:ring` and `FILE:tree` name one of its algorithms, `FILE` the faster one at the size.
    `FILE:N` and `FILE:N:ring` name one of several communicators."""

    is_more = True
    on_any_network = True
    imports = SUFFIXES
    refuses: ClassVar[Mapping[str, str]] = {
        "route": "routes are asked for, which only a CSV may leave open; rings and trees take the shortest ones",
        "trust": NO_TRUST,
    }

    def begins(self, start: bytes) -> bool:
        """Whether a file with this beginning is of this kind."""
        raise NotImplementedError

    def read(self, opened: Opened, endpoints: int | None, number: int | None = None) -> Channels:
        """The channels in a file, for a network with N endpoints; of several communicators those of one."""
        raise NotImplementedError

    def matches(self, opened: Opened) -> bool:
        """Whether the contents of the file are of this kind; the number of a communicator and the name of an algorithm may follow
        the path."""
        return self.begins(_named(opened)[0].start)

    def load(self, opened: Opened, asked: Asked) -> Channels:
        """The channels."""
        endpoints = None if asked.topology is None else len(asked.topology.endpoints)
        file, number, _ = _named(opened)
        return self.read(file, endpoints, number)

    def schedule(self, opened: Opened, asked: Asked) -> Schedule:
        """The schedule on the network that is asked for; an all-reduce where no collective is asked for."""
        return self._scheduled(opened, asked)[0]

    def verify(self, opened: Opened, asked: Asked) -> Checked:
        """All rules and bounds of the schedule on the network; what of the file is left out is told first."""
        schedule, channels = self._scheduled(opened, asked)
        return replace(checked_schedule(schedule, asked), before="; ".join(channels.told) or None)

    def _scheduled(self, opened: Opened, asked: Asked) -> tuple[Schedule, Channels]:
        topology, kind = asked.topology, _named(opened)[2]
        if topology is None:
            raise InputError(f"{opened}: rings and trees do not say their network; give it with --topology")
        collective = parsing.collective("all-reduce") if asked.collective is None else asked.collective
        request = Request(topology, collective, size_or_default(asked.size), machine_for(topology, asked.machine))
        channels = self.load(opened, asked)
        return running_schedule(channels, request, kind, self.name), channels


def _named(opened: Opened) -> tuple[Opened, int | None, str | None]:
    """The file, and the number of a communicator and the algorithm that follow its name."""
    found = None if opened.path.exists() else _NAMED.fullmatch(str(opened))
    if found is None:
        return opened, None, None
    return Opened(Path(found["file"])), None if found["number"] is None else int(found["number"]), found["kind"]


@artefact("nccl-graph")
class GraphDump(Running):
    """NCCL's graph dump (NCCL_GRAPH_DUMP_FILE): rings and trees of one box, or of several of the same kind."""

    def begins(self, start: bytes) -> bool:
        """Whether a file begins with the root element of this kind."""
        return b"<graphs" in start

    def read(self, opened: Opened, endpoints: int | None, number: int | None = None) -> Channels:
        """The channels, through as many boxes as the network has."""
        if number is not None:
            raise InputError(f"{opened}: communicator {number}; a graph dump is of one")
        return read_graph_dump(opened, endpoints)


@artefact("nccl-log")
class Log(Running):
    """A log of NCCL or RCCL (NCCL_DEBUG=INFO): its lines `Channel`, `Ring` and `Trees`."""

    def begins(self, start: bytes) -> bool:
        """Whether the lines of a file begin with the words of this kind."""
        return has_channels(start)

    def read(self, opened: Opened, endpoints: int | None, number: int | None = None) -> Channels:
        """The channels of the ranks of a communicator."""
        return read_log(opened, endpoints, number)
