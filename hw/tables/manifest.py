"""`manifest.json`: everything about a tables directory except its rows."""

import zlib
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from certree.hw.formats.layout import Widths
from certree.models.common.errors import InputError, TableFormatError
from certree.models.common.files import MAX_SIZE, check_format, sha256
from certree.models.machine.machine import machine_document, read_machine
from certree.models.network.topology_file import topology_document, topology_from_document
from certree.models.schedule.collective import parse_collective
from certree.models.schedule.schedule import MAX_CHUNKS, MAX_REPEATS, MAX_STEPS
from certree.models.tables import Tables

FORMAT, VERSION = "certree-tables", 1
_NOTE = "generated, do not edit"
_MAX_CYCLES = 1 << 62
_COUNTS = {  # field -> largest value allowed
    "chunks": MAX_CHUNKS,
    "delay": MAX_STEPS,
    "period": MAX_STEPS,
    "repeats": MAX_REPEATS,
    "message_bytes": MAX_SIZE,
    "chunk_bytes": _MAX_CYCLES,
    "slot_cycles": _MAX_CYCLES,
}
_KEYS = {
    "format", "version", "note", "encoding", "topology", "topology_digest", "collective", "root", "schedule_digest", "machine",
    "padded_bytes", "granule_bytes", "chunk_granules", "widths", "files", *_COUNTS,
}  # fmt: skip


def manifest_document(tables: Tables, encoding: str, widths: Widths, files: Mapping[str, bytes]) -> dict[str, Any]:
    """The JSON document (schema: hw/schemas/tables.schema.json)."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "note": _NOTE,
        "encoding": encoding,
        "topology_digest": tables.topology.digest,
        "schedule_digest": tables.schedule_digest,
        "collective": str(tables.collective.kind),
        "root": tables.collective.root,
        **{name: getattr(tables, name) for name in _COUNTS},
        "padded_bytes": tables.chunk_bytes * tables.chunks * tables.repeats,
        "granule_bytes": tables.machine.flit_bytes,
        "chunk_granules": tables.chunk_bytes // tables.machine.flit_bytes,
        "widths": asdict(widths),
        "machine": machine_document(tables.machine),
        "files": {name: file_entry(data) for name, data in sorted(files.items())},
        "topology": topology_document(tables.topology),
    }


def file_entry(data: bytes) -> dict[str, Any]:
    """What the manifest says of a file."""
    return {"bytes": len(data), "crc32": f"{zlib.crc32(data):08x}", "sha256": sha256(data)}


def check_manifest(document: Any, where: str) -> dict[str, Any]:
    """The document, once format, version and field names are right."""
    try:
        manifest = check_format(document, FORMAT, VERSION, where)
    except InputError as error:
        raise TableFormatError(str(error)) from None
    unknown, missing = sorted(manifest.keys() - _KEYS), sorted(_KEYS - manifest.keys())
    if unknown or missing:
        raise TableFormatError(f"{where}: unknown fields {unknown}, missing fields {missing}")
    if manifest["note"] != _NOTE:
        raise TableFormatError(f"{where}: note is {manifest['note']!r}; expected {_NOTE!r}")
    files = manifest["files"]
    if not isinstance(files, dict) or not all(isinstance(entry, dict) for entry in files.values()):
        raise TableFormatError(f"{where}: files must name each file's bytes, crc32 and sha256")
    for name in ("encoding", "collective", "schedule_digest", "topology_digest"):
        if not isinstance(manifest[name], str):
            raise TableFormatError(f"{where}: {name} must be a string")
    return manifest


def header_fields(document: dict[str, Any], where: str) -> dict[str, Any]:
    """The fields of `Tables` that are not columns; TableFormatError when the manifest contradicts itself."""
    for name, high in _COUNTS.items():
        value = document[name]
        if not (name == "period" and value is None) and (type(value) is not int or not 1 <= value <= high):
            raise TableFormatError(f"{where}: {name} is {value!r}; allowed: whole numbers from 1 to {high}")
    topology = topology_from_document(document["topology"], f"{where}: topology")
    machine = read_machine(document["machine"], f"{where}: machine")
    chunk = document["chunk_bytes"]
    for name, implied in (
        ("topology_digest", topology.digest),
        ("granule_bytes", machine.flit_bytes),
        ("chunk_granules", chunk // machine.flit_bytes),
        ("padded_bytes", chunk * document["chunks"] * document["repeats"]),
    ):
        if document[name] != implied:
            raise TableFormatError(f"{where}: {name} is {document[name]!r}; the other fields imply {implied!r}")
    return {
        "topology": topology,
        "collective": parse_collective(document["collective"], document["root"]),
        "machine": machine,
        "schedule_digest": document["schedule_digest"],
        **{name: document[name] for name in _COUNTS},
    }
