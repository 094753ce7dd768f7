"""`manifest.json`: everything about a tables directory except its rows."""

import zlib
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.hw.formats.banks import bank_file
from certree.hw.formats.bit_layout import Widths
from certree.models.common.columns import int_column
from certree.models.common.errors import InputError, TableFormatError, located, short
from certree.models.common.fields import Fields
from certree.models.common.files import sha256
from certree.models.demand import MAX_GRANULES, read_demand
from certree.models.machine.machine import machine_document, read_machine
from certree.models.network.topology import MAX_NODES, Topology
from certree.models.network.topology_file import topology_document, topology_from_document
from certree.models.schedule.collective import Collective, parse_collective
from certree.models.schedule.schedule_columns import MAX_SLOT_CYCLES
from certree.models.tables.table_columns import COUNTS, LOCKSTEP, MAX_EPOCH, SLOTTED, Profile
from certree.models.tables.table_memory import layout, message_chunks, message_chunks_of
from certree.models.tables.tables import Tables

FORMAT, VERSION, COUNTED_VERSION = "certree-tables", 1, 2
_NOTE = "generated, do not edit"
_KEYS = (
    "note", "encoding", "topology", "topology_digest", "collective", "root", "schedule_digest", "machine",
    "padded_bytes", "granule_bytes", "chunk_granules", "widths", "files", *COUNTS,
)  # fmt: skip


_PROFILE_KEYS = ("profile", "buffers", "stride", "work_base", "work_stride", "in_flight", "chunk_root", "chunk_target")
_OPTIONAL_KEYS = ("members", "demand", "granules", "epoch", "fine_slots", "waits", "additions", "control")


def manifest_document(tables: Tables, encoding: str, widths: Widths, files: Mapping[str, bytes]) -> dict[str, Any]:
    """The JSON document (its form: `manifest_form`)."""
    return {
        "format": FORMAT,
        "version": COUNTED_VERSION if _is_version_2(tables) else VERSION,
        "note": _NOTE,
        "encoding": encoding,
        "topology_digest": tables.topology.digest,
        "schedule_digest": tables.schedule_digest,
        "collective": tables.collective.name,
        "root": tables.collective.root,
        **{name: getattr(tables, name) for name in COUNTS},
        "padded_bytes": tables.chunk_bytes * message_chunks(tables) * tables.repeats,
        "granule_bytes": tables.machine.flit_bytes,
        "chunk_granules": tables.chunk_bytes // tables.machine.flit_bytes,
        "widths": widths.document(),
        **(_profile_document(tables) if _is_version_2(tables) else {}),
        "machine": machine_document(tables.machine),
        "files": {name: file_entry(data) for name, data in sorted(files.items())},
        "topology": topology_document(tables.topology),
    }


def _is_version_2(tables: Tables) -> bool:
    """Whether tables need the fields of version 2: all but those of `trees` in slots without an epoch, fine slots and a stated
    order."""
    given = tables.epoch is not None or tables.additions is not None or tables.control != SLOTTED
    return tables.is_counted or tables.fine_slots or given


def _profile_document(tables: Tables) -> dict[str, Any]:
    """The fields of version 2."""
    fine: dict[str, Any] = {"fine_slots": True} if tables.fine_slots else {}
    if tables.waits is not None:
        fine["waits"] = [list(entry) for entry in tables.waits]
    roots = {name: getattr(tables, name) for name in ("chunk_root", "chunk_target")}
    return {
        "profile": str(tables.profile),
        **({} if tables.collective.members is None else {"members": list(tables.collective.members)}),
        **({} if tables.collective.demand is None else {"demand": tables.collective.demand.document()}),
        **({} if tables.chunk_granules is None else {"granules": tables.chunk_granules.tolist()}),
        **({} if tables.epoch is None else {"epoch": tables.epoch}),
        "buffers": tables.buffers,
        **asdict(layout(tables)),
        **{name: None if column is None else column.tolist() for name, column in roots.items()},
        **fine,
        **({} if tables.additions is None else {"additions": tables.additions}),
        **({} if tables.control == SLOTTED else {"control": tables.control}),
    }


def file_entry(data: bytes) -> dict[str, Any]:
    """The manifest's entry for a file."""
    return {"bytes": len(data), "crc32": f"{zlib.crc32(data):08x}", "sha256": sha256(data)}


def check_manifest(document: Any, where: str) -> Fields:
    """The fields of the document, after checking format, version and field names."""
    manifest = Fields.of_format(document, FORMAT, VERSION, where, TableFormatError, COUNTED_VERSION)
    if document["version"] == COUNTED_VERSION:
        manifest.only(*_KEYS, *_PROFILE_KEYS, optional=_OPTIONAL_KEYS)
    else:
        manifest.only(*_KEYS)
    manifest.choice("note", [_NOTE])
    for name in ("encoding", "collective", "schedule_digest", "topology_digest"):
        manifest.text(name)
    return manifest


def header_fields(manifest: Fields) -> dict[str, Any]:
    """The fields of `Tables` that are not columns of rows; TableFormatError when the manifest contradicts itself."""
    counts: dict[str, Any] = {
        name: (manifest.whole_or_none if name == "period" else manifest.whole)(name, 1, high) for name, high in COUNTS.items()
    }
    topology = topology_from_document(manifest.raw("topology"), f"{manifest.where}: topology")
    machine = read_machine(manifest.raw("machine"), f"{manifest.where}: machine")
    header = {
        "topology": topology,
        "collective": _collective(manifest, topology),
        "machine": machine,
        "schedule_digest": manifest.text("schedule_digest"),
        **counts,
        **(_profile_fields(manifest) if "profile" in manifest else {}),
    }
    members = header["collective"].members_of(topology)
    chunks = message_chunks_of(header["collective"], len(members), counts["chunks"])
    for name, implied in {
        "topology_digest": topology.digest,
        "granule_bytes": machine.flit_bytes,
        "chunk_granules": counts["chunk_bytes"] // machine.flit_bytes,
        "padded_bytes": counts["chunk_bytes"] * chunks * counts["repeats"],
    }.items():
        if manifest.raw(name) != implied:
            manifest.refuse(f"{name} is {short(manifest.raw(name))}; the other fields imply {implied!r}")
    return header


def _collective(manifest: Fields, topology: Topology) -> Collective:
    named = manifest.entries("members") if "members" in manifest else None
    demand = read_demand(manifest.table_of("demand")) if "demand" in manifest else None
    with located(manifest.where, TableFormatError):
        collective = parse_collective(manifest.text("collective"), manifest.raw("root"), named, demand)
        if named is not None and collective.fitted(topology).members is None:
            raise InputError("members are all endpoints; such a manifest names none")
    return collective


def _profile_fields(manifest: Fields) -> dict[str, Any]:
    profile = Profile(manifest.text("profile", known=[one.value for one in Profile]))
    fine = "fine_slots" in manifest and manifest.choice("fine_slots", [True])
    if profile is Profile.TREES and not fine and not {"epoch", "additions", "control"} & set(manifest.table):
        what = "without an epoch or fine slots, and without additions or control"
        manifest.refuse(f"profile is trees in version 2, {what}; such tables have version 1")
    fields: dict[str, Any] = {
        "profile": profile,
        "buffers": manifest.whole("buffers", 1),
        "in_flight": manifest.whole("in_flight", 1),
        "epoch": manifest.whole("epoch", 0, MAX_EPOCH) if "epoch" in manifest else None,
        "fine_slots": fine,
        "additions": manifest.text("additions") if "additions" in manifest else None,
        "waits": _waits(manifest) if "waits" in manifest else None,
        "control": manifest.choice("control", [LOCKSTEP]) if "control" in manifest else SLOTTED,
    }
    for name in ("chunk_root", "chunk_target"):
        given = manifest.raw(name)
        where = f"{manifest.where}: {name}"
        fields[name] = None if given is None else int_column(given, where, 0, MAX_NODES, error=TableFormatError)
    if "granules" in manifest:
        where = f"{manifest.where}: granules"
        fields["chunk_granules"] = int_column(manifest.raw("granules"), where, 1, MAX_GRANULES + 1, error=TableFormatError)
    return fields


def _waits(manifest: Fields) -> tuple[tuple[int, ...], ...]:
    """Cycles by route and router."""
    given = manifest.raw("waits")
    if not isinstance(given, list):
        manifest.refuse("waits must be a list of lists of whole numbers")
    where = f"{manifest.where}: waits"
    columns = (
        int_column(entry, f"{where} row {row}", 0, MAX_SLOT_CYCLES, error=TableFormatError) for row, entry in enumerate(given)
    )
    return tuple(tuple(column.tolist()) for column in columns)


def check_layout(manifest: Fields, tables: Tables) -> None:
    """Raise TableFormatError where the manifest states other strides than the tables have."""
    for name, implied in asdict(layout(tables)).items() if _is_version_2(tables) else ():
        if manifest.raw(name) != implied:
            manifest.refuse(f"{name} is {short(manifest.raw(name))}; the rows imply {implied!r}")


def check_epochs(found: NDArray[np.int64] | None, header: Mapping[str, Any], files: Mapping[str, bytes]) -> None:
    """Raise TableFormatError for an image of another epoch than the manifest states; `found`: the epochs of the images of the
    endpoints, empty where they state none, None where the format has none. `files`: by name, for messages."""
    stated = header.get("epoch")
    if found is None or (stated is None and not len(found)):
        return
    if not len(found):
        raise TableFormatError(f"the manifest states epoch {stated}; the images have no headers")
    for node, epoch in zip(header["topology"].endpoints.tolist(), found.tolist(), strict=True):
        if epoch != stated:
            here = "no epoch" if stated is None else f"epoch {stated}"
            where = bank_file(node) if bank_file(node) in files else "the tables"
            raise TableFormatError(f"{where}: epoch of node {node} is {epoch}; the manifest states {here}")
