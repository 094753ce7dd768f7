"""From names to runs of endpoints, and what such a run shows as a JSON document."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from certree.api.inputs import holds_schedule, read_schedule
from certree.api.parsing import DEFAULT_MACHINE
from certree.hw.endpoints.run import EndpointResult
from certree.models.common.errors import InputError
from certree.models.machine.machine import load_machine
from certree.models.network.spec import parse_topology
from certree.models.network.topology import Topology
from certree.models.schedule.collective import Collective, CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.symmetric import written_out
from certree.synth.method import Request, load_methods

#: the methods of ACE's Table 5
HIERARCHICAL = {CollectiveKind.ALL_REDUCE: "hierarchical", CollectiveKind.ALL_TO_ALL: "hierarchical-all-to-all"}


@dataclass(frozen=True)
class MadeSchedule:
    """A schedule, and into how many ways its segments are parted by default."""

    schedule: Schedule
    method: str
    ways: int


def schedule_of(
    source: str, collective: Collective | None, method: str | None, options: Mapping[str, str], size: int
) -> MadeSchedule:
    """The schedule in a file, or what a method makes for a network."""
    if not holds_schedule(Path(source)):
        topology = parse_topology(source)
        wanted = collective or Collective(CollectiveKind.ALL_REDUCE)
        wanted.require_fits(topology)
        return make_schedule(topology, wanted, method, options, size)
    if collective is not None or method is not None or options:
        raise InputError("--collective, --method and --option are for networks; a schedule is what it is")
    schedule = written_out(read_schedule(Path(source)))
    return MadeSchedule(schedule, str(schedule.provenance.get("method", "unknown")), 1)


def make_schedule(
    topology: Topology, collective: Collective, method: str | None, options: Mapping[str, str], size: int
) -> MadeSchedule:
    """What a method makes, by default that of Table 5. Its rings have both directions: chunks take them in turn, so two ways."""
    name = method or HIERARCHICAL.get(collective.kind)
    if name is None:
        raise InputError(f"{collective.kind} needs --method; only {' and '.join(HIERARCHICAL)} have one of their own here")
    request = Request(topology, collective, size, load_machine(DEFAULT_MACHINE), options=options)
    schedule = written_out(load_methods()[name](request))
    made_with = schedule.provenance.get("options", {})
    both = name == HIERARCHICAL[CollectiveKind.ALL_REDUCE] and made_with["bidirectional"] and "ring" in made_with["plans"]
    return MadeSchedule(schedule, name, 2 if both else 1)


def endpoint_report(result: EndpointResult) -> dict[str, Any]:
    """The JSON document of one run; exact numbers as strings."""
    return {
        "system": result.system,
        "cycles": result.cycles,
        "ends": list(result.ends),
        "seconds": str(result.seconds),
        "data_ok": result.data_ok,
        "wrong": None if result.wrong is None else dict(zip(("rank", "chunk", "piece"), result.wrong, strict=True)),
        "conserved": result.conserved,
        "chunks": result.chunks,
        "chunk_bytes": result.chunk_bytes,
        "padded_bytes": result.padded_bytes,
        "messages": result.messages,
        "phases": result.phases,
        "partitions": list(result.partitions),
        "partition_peaks": list(result.partition_peaks),
        "deepest_port": result.deepest_port,
        "interrupts": result.interrupts,
        "memory_bytes": result.memory_bytes,
        "link_bytes": result.link_bytes,
        "occupancy": {name: str(value) for name, value in result.occupancy.items()},
        "delays": {name: str(value) for name, value in result.delays.items()},
        "joules": str(result.joules),
        "stall": list(result.stall),
    }
