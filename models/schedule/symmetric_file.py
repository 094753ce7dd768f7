"""Symmetric schedules in files (JSON, .json.gz), and schedules of either form."""

from pathlib import Path
from typing import Any

import numpy as np

from certree.models.common.columns import int_column
from certree.models.common.errors import InputError, ScheduleFormatError
from certree.models.common.files import canonical_json, check_format, read_json, write_atomically
from certree.models.network.action import action_from_document
from certree.models.network.families import load_families
from certree.models.network.imports import suffixes
from certree.models.network.routing import DIRECT
from certree.models.network.spec import parse_topology
from certree.models.network.topology import MAX_NODES, Topology
from certree.models.network.topology_file import topology_document, topology_from_document
from certree.models.schedule.collective import CollectiveKind, parse_collective
from certree.models.schedule.schedule import MAX_CHUNKS, MAX_STEPS, NO_ROOT, Schedule
from certree.models.schedule.schedule_file import (
    MADE_FOR,
    load_schedule,
    read_made_for,
    save_schedule,
    schedule_from_document,
)
from certree.models.schedule.symmetric import WHOLE, AnySchedule, SymmetricSchedule

FORMAT, VERSION = "certree-symmetric-schedule", 1
_COLUMNS = {"chunk": MAX_CHUNKS, "op": 1, "step": MAX_STEPS, "src": MAX_NODES, "dst": MAX_NODES}
_KEYS = {
    "format", "version", "topology", "collective", "action", "trees", "delay", "steps", "transfers", "certificate", "provenance",
}  # fmt: skip


def load_any_schedule(path: Path) -> AnySchedule:
    """A schedule in either of our formats; ScheduleFormatError or InputError says what is wrong and where."""
    if path.suffix == ".npz":
        return load_schedule(path)
    document = read_json(path)
    if isinstance(document, dict) and document.get("format") == FORMAT:
        return symmetric_from_document(document, str(path))
    return schedule_from_document(document, str(path))


def save_any_schedule(schedule: AnySchedule, path: Path, *, force: bool = False) -> None:
    """Write a schedule as it is kept; the same schedule gives the same bytes. A symmetric one goes to .json or .json.gz."""
    if not isinstance(schedule, SymmetricSchedule):
        save_schedule(schedule, path, force=force)
        return
    if path.suffix == ".npz":
        raise InputError(f"{path}: .npz is for schedules with all their transfers; a symmetric one goes to .json or .json.gz")
    write_atomically(path, canonical_json(symmetric_document(schedule)), force=force)


def symmetric_document(schedule: SymmetricSchedule) -> dict[str, Any]:
    """The JSON document of a symmetric schedule (schema: models/schemas/symmetric-schedule.schema.json)."""
    base = schedule.base
    return {
        "format": FORMAT,
        "version": VERSION,
        "topology": _named(schedule.topology) or topology_document(schedule.topology),
        "collective": str(schedule.collective.kind),
        "action": schedule.action.document,
        "trees": base.chunks,
        "delay": base.delay,
        "steps": base.steps,
        "transfers": {name: getattr(base, name).tolist() for name in _COLUMNS},
        "certificate": schedule.certificate,
        "provenance": schedule.provenance,
        **({} if schedule.made_for is None else {MADE_FOR: schedule.made_for.document()}),
    }


def _is_of_family(name: str) -> bool:
    """Whether a token names a network by its family: no file is opened for what a document says."""
    return name.partition(":")[0] in load_families() and not name.partition(",")[0].lower().endswith(suffixes())


def _named(topology: Topology) -> dict[str, str] | None:
    """Name and digest, where the name of a family makes the very same network."""
    if not _is_of_family(topology.name):
        return None
    try:
        made = parse_topology(topology.name)
    except InputError:
        return None
    return {"name": topology.name, "digest": topology.digest} if made.digest == topology.digest else None


def _topology(value: Any, where: str) -> Topology:
    """The network of a document: in full, or by a name that makes a network of the stated digest."""
    if not isinstance(value, dict) or set(value) != {"name", "digest"}:
        return topology_from_document(value, where)
    name = value["name"]
    if not isinstance(name, str) or not _is_of_family(name):
        raise ScheduleFormatError(
            f"{where}.name is {str(name)[:60]!r}; allowed: a network by the name of its family, or one in full"
        )
    topology = parse_topology(name)
    if topology.digest != value["digest"]:
        raise ScheduleFormatError(f"{where}: {name} has the digest {topology.digest}, not the one that is stated")
    return topology


def symmetric_from_document(document: Any, where: str) -> SymmetricSchedule:
    """The symmetric schedule in a parsed JSON document."""
    document = check_format(document, FORMAT, VERSION, where)
    unknown, missing = sorted(document.keys() - _KEYS - {MADE_FOR}), sorted(_KEYS - document.keys())
    if unknown or missing:
        raise ScheduleFormatError(f"{where}: unknown fields {unknown}, missing fields {missing}")
    topology = _topology(document["topology"], f"{where}: topology")
    kinds = {str(whole): base for base, whole in WHOLE.items()}
    if document["collective"] not in list(kinds):
        raise ScheduleFormatError(f"{where}: collective is {str(document['collective'])[:60]!r}; allowed: {', '.join(kinds)}")
    for name, high in (("trees", MAX_CHUNKS), ("delay", MAX_STEPS), ("steps", MAX_CHUNKS)):
        if type(document[name]) is not int or not 1 <= document[name] <= high:
            raise ScheduleFormatError(f"{where}: {name} is {document[name]!r}; allowed: whole numbers from 1 to {high}")
    transfers = document["transfers"]
    if not isinstance(transfers, dict) or set(transfers) != set(_COLUMNS):
        raise ScheduleFormatError(f"{where}: transfers must hold the columns {', '.join(_COLUMNS)}")
    length: int | None = None
    columns = {}
    for name, high in _COLUMNS.items():
        columns[name] = int_column(transfers, name, f"{where}: transfers", 0, high, length, ScheduleFormatError)
        length = len(columns[name])
    for name in ("certificate", "provenance"):
        if not (isinstance(document[name], dict) or (name == "certificate" and document[name] is None)):
            raise ScheduleFormatError(f"{where}: {name} must be an object")
    made_for = read_made_for(document, where)
    kind = kinds[document["collective"]]
    rooted = kind is not CollectiveKind.ALL_REDUCE
    try:
        base = Schedule(
            topology=topology,
            collective=parse_collective(kind, 0 if rooted else None),
            chunk_root=np.full(document["trees"], 0 if rooted else NO_ROOT, np.int32),
            rounds=np.ones(document["steps"], np.int32),
            route=np.full(length or 0, DIRECT, np.int32),
            delay=document["delay"],
            chunk=columns["chunk"],
            op=columns["op"].astype(np.int8),
            step=columns["step"],
            src=columns["src"],
            dst=columns["dst"],
        )
        action = action_from_document(document["action"], len(topology.kind), "action")
        return SymmetricSchedule(base, action, document["certificate"], document["provenance"], made_for)
    except ScheduleFormatError as error:
        raise ScheduleFormatError(f"{where}: {error}") from None
