"""Graph dumps and logs of NCCL as kinds of artefacts: with a network they are schedules."""

import re
from collections.abc import Mapping
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

_NAMED = re.compile(f"(.+):({RING}|{TREE})", re.DOTALL)


class Running(Artefact):
    """What NCCL found: `FILE:ring` and `FILE:tree` name one of its algorithms, `FILE` the faster one at the size."""

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

    def read(self, opened: Opened, endpoints: int | None) -> Channels:
        """The channels in a file, for a network with N endpoints."""
        raise NotImplementedError

    def matches(self, opened: Opened) -> bool:
        """By the contents of the file, which the name of an algorithm may follow."""
        return self.begins(_named(opened)[0].start)

    def load(self, opened: Opened, asked: Asked) -> Channels:
        """The channels."""
        endpoints = None if asked.topology is None else len(asked.topology.endpoints)
        return self.read(_named(opened)[0], endpoints)

    def schedule(self, opened: Opened, asked: Asked) -> Schedule:
        """The schedule on the network that is asked for; an all-reduce where no collective is asked for."""
        topology, kind = asked.topology, _named(opened)[1]
        if topology is None:
            raise InputError(f"{opened}: rings and trees do not say their network; give it with --topology")
        collective = parsing.collective("all-reduce") if asked.collective is None else asked.collective
        request = Request(topology, collective, size_or_default(asked.size), machine_for(topology, asked.machine))
        return running_schedule(self.load(opened, asked), request, kind, self.name)

    def verify(self, opened: Opened, asked: Asked) -> Checked:
        """All rules and bounds of the schedule on the network."""
        return checked_schedule(self.schedule(opened, asked), asked)


def _named(opened: Opened) -> tuple[Opened, str | None]:
    """The file, and the algorithm that follows its name."""
    found = None if opened.path.exists() else _NAMED.fullmatch(str(opened))
    return (opened, None) if found is None else (Opened(Path(found[1])), found[2])


@artefact("nccl-graph")
class GraphDump(Running):
    """NCCL's graph dump (NCCL_GRAPH_DUMP_FILE): rings and trees of one box, or of several of the same kind."""

    def begins(self, start: bytes) -> bool:
        """By the root element."""
        return b"<graphs" in start

    def read(self, opened: Opened, endpoints: int | None) -> Channels:
        """The channels, through as many boxes as the network has."""
        return read_graph_dump(opened, endpoints)


@artefact("nccl-log")
class Log(Running):
    """A log of NCCL or RCCL (NCCL_DEBUG=INFO): its lines `Channel`, `Ring` and `Trees`."""

    def begins(self, start: bytes) -> bool:
        """By the words with which its lines begin."""
        return has_channels(start)

    def read(self, opened: Opened, endpoints: int | None) -> Channels:
        """The channels of its ranks."""
        return read_log(opened, endpoints)
