"""Symmetric schedules in files (JSON, .json.gz), and schedules of either form."""

from pathlib import Path
from typing import Any

import numpy as np

from certree.models.common.errors import InputError, ScheduleFormatError, located, short
from certree.models.common.fields import Fields
from certree.models.common.files import Opened, canonical_json, read_json, require_suffix, write_atomically
from certree.models.network.action import action_from_document
from certree.models.network.families import load_families
from certree.models.network.network_files import format_of
from certree.models.network.routing import DIRECT
from certree.models.network.spec import parse_topology
from certree.models.network.topology import Topology
from certree.models.network.topology_file import topology_document, topology_from_document
from certree.models.schedule.collective import CollectiveKind, parse_collective
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import BUFFER_COLUMNS, MAX_BUFFERS, MAX_CHUNKS, MAX_SLOT_CYCLES, MAX_STEPS, NO_ROOT
from certree.models.schedule.schedule_file import (
    LIMITS,
    MADE_FOR,
    SUFFIXES,
    evidence,
    load_schedule,
    save_schedule,
    schedule_document,
    schedule_from_document,
)
from certree.models.schedule.symmetric.symmetric_schedule import LEFT_OUT, WHOLE, AnySchedule, SymmetricSchedule, base_targets

FORMAT, VERSION, VERSION_2 = "certree-symmetric-schedule", 1, 2  # the second where a field of it is used
_KEYS = ("topology", "collective", "action", "trees", "delay", "steps", "transfers", "certificate", "provenance")
_KEYS_2 = ("buffers", "slot_cycles")
_LIMITS = {name: limits for name, limits in LIMITS.items() if name != "route"}


def load_any_schedule(file: Path | Opened) -> AnySchedule:
    """A schedule in either of certree's formats; ScheduleFormatError or InputError says what is wrong and where."""
    if str(file).endswith(".npz"):
        return load_schedule(file)
    return any_schedule_from_document(read_json(file), str(file))


def any_schedule_from_document(document: Any, where: str) -> AnySchedule:
    """The schedule in a parsed JSON document of either format."""
    if isinstance(document, dict) and document.get("format") == FORMAT:
        return symmetric_from_document(document, where)
    return schedule_from_document(document, where)


def any_schedule_document(schedule: AnySchedule) -> dict[str, Any]:
    """The JSON document of a schedule, in its own form."""
    return symmetric_document(schedule) if isinstance(schedule, SymmetricSchedule) else schedule_document(schedule)


def save_any_schedule(schedule: AnySchedule, path: Path, *, force: bool = False) -> None:
    """Write a schedule in its own form; the same schedule gives the same bytes. A symmetric one goes to .json or .json.gz."""
    if not isinstance(schedule, SymmetricSchedule):
        save_schedule(schedule, path, force=force)
        return
    if path.suffix == ".npz":
        raise InputError(f"{path}: .npz is for schedules with all their transfers; a symmetric one goes to .json or .json.gz")
    require_suffix(path, SUFFIXES, "a schedule file")
    write_atomically(path, canonical_json(symmetric_document(schedule)), force=force)


def symmetric_document(schedule: SymmetricSchedule) -> dict[str, Any]:
    """The JSON document of a symmetric schedule (its form: `certree.models.schemas.schedule_forms`)."""
    base = schedule.base
    fields: dict[str, Any] = {} if base.buffers == 1 else {"buffers": base.buffers}
    fields |= {} if base.slot_cycles is None else {"slot_cycles": base.slot_cycles}
    return {
        "format": FORMAT,
        "version": VERSION_2 if fields else VERSION,
        "topology": _named(schedule.topology) or topology_document(schedule.topology),
        "collective": str(schedule.collective.kind),
        "action": schedule.action.document,
        "trees": base.chunks,
        "delay": base.delay,
        "steps": base.steps,
        "transfers": {name: getattr(base, name).tolist() for name in base.columns if name != "route"},
        **fields,
        "certificate": schedule.certificate,
        "provenance": schedule.provenance,
        **({} if schedule.made_for is None else {MADE_FOR: schedule.made_for.document()}),
    }


def _is_of_family(name: str) -> bool:
    """Whether a token names a network by its family: a document must not make the program open files."""
    return name.partition(":")[0] in load_families() and format_of(Opened(Path(name.partition(",")[0]))) is None


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
        raise ScheduleFormatError(f"{where}.name is {short(name)}; allowed: a network by the name of its family, or one in full")
    topology = parse_topology(name)
    if topology.digest != value["digest"]:
        raise ScheduleFormatError(f"{where}: {name} has the digest {topology.digest}, not the one that is stated")
    return topology


def symmetric_from_document(document: Any, where: str) -> SymmetricSchedule:
    """The symmetric schedule in a parsed JSON document."""
    fields = Fields.of_format(document, FORMAT, VERSION, where, ScheduleFormatError, VERSION_2)
    for name, reason in LEFT_OUT.items():
        if name in fields:
            fields.refuse(f"field {name} (version 2) is given; symmetric schedules have none: {reason}")
    fields.only(*_KEYS, optional=[MADE_FOR, *(_KEYS_2 if document["version"] == VERSION_2 else ())])
    buffers = fields.whole("buffers", 2, MAX_BUFFERS) if "buffers" in fields else 1
    slot_cycles = fields.whole("slot_cycles", 1, MAX_SLOT_CYCLES) if "slot_cycles" in fields else None
    if document["version"] == VERSION_2 and buffers == 1 and slot_cycles is None:
        fields.refuse(f"version 2 without {' and '.join(_KEYS_2)}; such a schedule has version 1")
    topology = _topology(fields.raw("topology"), f"{where}: topology")
    kinds = {str(whole): base for base, whole in WHOLE.items()}
    kind = kinds[fields.choice("collective", kinds)]
    trees, steps = (fields.whole(name, 1, MAX_CHUNKS) for name in ("trees", "steps"))
    delay = fields.whole("delay", 1, MAX_STEPS)
    limits = _LIMITS | (dict.fromkeys(BUFFER_COLUMNS, (0, buffers - 1)) if buffers > 1 else {})
    columns = fields.table_of("transfers").only(*limits).columns(limits)
    rooted = kind is not CollectiveKind.ALL_REDUCE
    with located(where, ScheduleFormatError):
        kept = evidence(fields)
        base = Schedule(
            topology=topology,
            collective=parse_collective(kind, 0 if rooted else None),
            chunk_root=np.full(trees, 0 if rooted else NO_ROOT, np.int32),
            rounds=np.ones(steps, np.int32),
            route=np.full(len(columns["chunk"]), DIRECT, np.int32),
            delay=delay,
            chunk_target=base_targets(len(topology.kind), trees) if kind is CollectiveKind.SCATTER else None,
            buffers=buffers,
            slot_cycles=slot_cycles,
            made_for=kept.get("made_for") if slot_cycles is not None else None,
            **columns,  # type: ignore[arg-type]
        )
        action = action_from_document(fields.raw("action"), len(topology.kind), "action")
        return SymmetricSchedule(base, action, **kept)
