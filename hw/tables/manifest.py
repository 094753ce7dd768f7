"""`manifest.json`: everything about a tables directory except its rows."""

import zlib
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from certree.hw.formats.layout import Widths
from certree.models.common.errors import TableFormatError, short
from certree.models.common.fields import Fields
from certree.models.common.files import sha256
from certree.models.machine.machine import machine_document, read_machine
from certree.models.network.topology_file import topology_document, topology_from_document
from certree.models.schedule.collective import parse_collective
from certree.models.tables import COUNTS, Tables

FORMAT, VERSION = "certree-tables", 1
_NOTE = "generated, do not edit"
_KEYS = (
    "note", "encoding", "topology", "topology_digest", "collective", "root", "schedule_digest", "machine",
    "padded_bytes", "granule_bytes", "chunk_granules", "widths", "files", *COUNTS,
)  # fmt: skip


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
        **{name: getattr(tables, name) for name in COUNTS},
        "padded_bytes": tables.chunk_bytes * tables.chunks * tables.repeats,
        "granule_bytes": tables.machine.flit_bytes,
        "chunk_granules": tables.chunk_bytes // tables.machine.flit_bytes,
        "widths": asdict(widths),
        "machine": machine_document(tables.machine),
        "files": {name: file_entry(data) for name, data in sorted(files.items())},
        "topology": topology_document(tables.topology),
    }


def file_entry(data: bytes) -> dict[str, Any]:
    """The manifest's entry for a file."""
    return {"bytes": len(data), "crc32": f"{zlib.crc32(data):08x}", "sha256": sha256(data)}


def check_manifest(document: Any, where: str) -> Fields:
    """The fields of the document, after checking format, version and field names."""
    manifest = Fields.of_format(document, FORMAT, VERSION, where, TableFormatError).only(*_KEYS)
    manifest.choice("note", [_NOTE])
    for name in ("encoding", "collective", "schedule_digest", "topology_digest"):
        manifest.text(name)
    return manifest


def header_fields(manifest: Fields) -> dict[str, Any]:
    """The fields of `Tables` that are not columns; TableFormatError when the manifest contradicts itself."""
    counts: dict[str, Any] = {
        name: (manifest.whole_or_none if name == "period" else manifest.whole)(name, 1, high) for name, high in COUNTS.items()
    }
    topology = topology_from_document(manifest.raw("topology"), f"{manifest.where}: topology")
    machine = read_machine(manifest.raw("machine"), f"{manifest.where}: machine")
    for name, implied in {
        "topology_digest": topology.digest,
        "granule_bytes": machine.flit_bytes,
        "chunk_granules": counts["chunk_bytes"] // machine.flit_bytes,
        "padded_bytes": counts["chunk_bytes"] * counts["chunks"] * counts["repeats"],
    }.items():
        if manifest.raw(name) != implied:
            manifest.refuse(f"{name} is {short(manifest.raw(name))}; the other fields imply {implied!r}")
    return {
        "topology": topology,
        "collective": parse_collective(manifest.text("collective"), manifest.raw("root")),
        "machine": machine,
        "schedule_digest": manifest.text("schedule_digest"),
        **counts,
    }
