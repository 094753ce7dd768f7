"""Tables directories: written completely or not at all, and checked when read."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from certree.hw.formats import EPOCH_COLUMN, ROUTE_COLUMN, Columns, load_formats
from certree.hw.formats.bit_layout import Widths
from certree.hw.formats.source_routes import links_of_ports
from certree.hw.tables.manifest import check_epochs, check_layout, check_manifest, file_entry, header_fields, manifest_document
from certree.models.common.errors import InputError, TableFormatError, located, short
from certree.models.common.fields import Fields
from certree.models.common.files import canonical_json, check_writable, new_folder, parse_json, read_bytes, read_json
from certree.models.schedule.schedule_columns import BUFFER_COLUMNS
from certree.models.tables.table_columns import NIL, Profile, RowOp
from certree.models.tables.table_form import require_sound
from certree.models.tables.tables import Tables

MANIFEST = "manifest.json"
PRODUCTS = {"obj_dir", "sim_build", "waves.vcd", "__pycache__"}  # outputs of the exported testbenches: not read, and not an error
_NO_FILES: Mapping[str, bytes] = {}


def export_tables(
    tables: Tables, directory: Path, format: str = "readmemh", force: bool = False, more: Mapping[str, bytes] = _NO_FILES
) -> None:
    """Write the tables as a directory in one of the registered formats; the same tables give the same bytes. `more`: files that the
    format leaves to the caller (a golden trace, which takes a run).

    The files are written to a hidden folder next to `directory`, which is then renamed: whenever the process is killed, `directory`
    is as before or new, and the next export to it removes what is left. Raises InputError when `directory` exists (unless `force`,
    which replaces an empty folder or another tables directory, nothing else), TableFormatError when the tables are malformed.
    O(rows) time and memory.
    """
    _ = load_formats()[format]
    check_writable(directory, force=force)
    _check_replaceable(directory)
    files = table_files(tables, format, more)
    with new_folder(directory, force=force) as fresh:
        _check_replaceable(directory)  # again, now that no other process writes it
        for name, data in files.items():
            (fresh / name).write_bytes(data)


def table_files(tables: Tables, format: str = "readmemh", more: Mapping[str, bytes] = _NO_FILES) -> dict[str, bytes]:
    """The files of the tables in one of the registered formats, by name, `manifest.json` last, with those in `more`;
    TableFormatError when the tables are malformed."""
    entry = load_formats()[format]()
    require_sound(tables)
    widths = Widths.of(tables)
    files = {**entry.files(tables, widths), **more}
    return files | {MANIFEST: canonical_json(manifest_document(tables, format, widths, files))}


def _check_replaceable(directory: Path) -> None:
    """Raise InputError for directories that certree has not written: it never deletes those."""
    manifest = directory / MANIFEST
    if manifest.is_file():
        check_manifest(read_json(manifest), str(manifest))
    elif directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise InputError(f"{directory} is not a tables directory; remove it yourself or choose another name")


def read_tables(directory: Path) -> Tables:
    """The tables in a directory that `export_tables` wrote.

    Raises TableFormatError naming file, row or field for anything that is missing, left over, truncated, altered (CRC-32 and
    SHA-256), out of range, out of order or contradictory: rows against arrivals, hex images against table.json, both against the
    manifest, and the schedule that the rows execute against its digest. The verifier decides whether that schedule is *valid*.
    O(rows log rows) time.
    """
    if not directory.is_dir():
        raise InputError(f"{directory} is not a directory")
    read_bytes(directory / MANIFEST)
    found = sorted(entry for entry in directory.iterdir() if entry.name not in PRODUCTS)
    return tables_of_files({entry.name: read_bytes(entry) if entry.is_file() else b"" for entry in found}, directory)


def tables_of_files(files: Mapping[str, bytes], directory: Path) -> Tables:
    """The tables in the files of a directory, by name; `directory` is for messages. Errors as `read_tables`."""
    where = str(directory / MANIFEST)
    if MANIFEST not in files:
        raise TableFormatError(f"{where} is missing")
    manifest = check_manifest(parse_json(files[MANIFEST], where), where)
    formats = load_formats()
    encoding = manifest.text("encoding", known=formats)
    if "control" in manifest and not formats[encoding].has_trace:
        manifest.refuse(f"control is stated; tables of format {encoding} describe no interface that it could be of")
    files = _checked_files(files, directory, manifest.table_of("files"))
    header = header_fields(manifest)
    widths = manifest.table_of("widths").read(Widths)
    with located(str(directory), TableFormatError):
        columns = formats[encoding]().columns(files, widths, header["topology"].endpoints.tolist())
        ports, channel = columns.pop(ROUTE_COLUMN), None
        check_epochs(columns.pop(EPOCH_COLUMN, None), header, files)
        if widths.channel:
            channel, ports = ports[:, 0], ports[:, 1:]
        routes = links_of_ports(header["topology"], columns["node"], columns["route"], ports)
        tables = Tables(**header, **_completed(columns, header), routes=routes, virtual_channel=channel)  # type: ignore[arg-type]
        _check_against_manifest(tables, widths)
        check_layout(manifest, tables)
        formats[encoding]().check(files, tables, widths)
    return tables


def _checked_files(files: Mapping[str, bytes], directory: Path, stated: Fields) -> dict[str, bytes]:
    """The files without the manifest, after checking them against it."""
    present = {name: data for name, data in files.items() if name != MANIFEST}
    for name in sorted(set(present) ^ set(stated.table)):
        fault = "is missing" if name in stated.table else "is not in the manifest"
        raise TableFormatError(f"{directory / name} {fault}")
    for name, data in present.items():
        actuals = file_entry(data)
        entry = stated.table_of(name).only(*actuals)
        for field, actual in actuals.items():
            if entry.raw(field, None) != actual:
                raise TableFormatError(f"{directory / name}: {field} is {actual}; the manifest has {short(entry.raw(field, None))}")
    return present


def _completed(columns: Columns, header: Mapping[str, Any]) -> Columns:
    """The columns, including those that files of the profile omit."""
    if header.get("profile", Profile.TREES) is Profile.TREES:
        return columns
    rows, arrivals = len(columns["node"]), len(columns["arrival_node"])
    empty = {name: np.zeros(rows, np.int32) for name in BUFFER_COLUMNS} | {"parent": np.full(rows, NIL)}
    empty |= {"arrival_buffer": np.zeros(arrivals, np.int32), "arrival_peer": np.full(arrivals, NIL)}
    return empty | {"arrival_op": np.full(arrivals, RowOp.NOP)} | columns


def _check_against_manifest(tables: Tables, widths: Widths) -> None:
    require_sound(tables)
    narrowest = Widths.of(tables)
    if widths != narrowest:
        raise TableFormatError(f"the manifest states {widths}; the rows need {narrowest}")
    if tables.schedule.digest != tables.schedule_digest:
        raise TableFormatError("the rows execute a schedule other than that of the digest in the manifest")
