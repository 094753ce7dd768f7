"""Schedules in files: JSON (also .gz), and .npz for millions of rows."""

import io
import lzma
import tokenize
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from certree.models.common.budget import MOST_COLUMNS, require_size
from certree.models.common.errors import ScheduleFormatError, located
from certree.models.common.fields import Fields
from certree.models.common.files import (
    Opened,
    canonical_json,
    parse_object,
    read_bytes,
    read_json,
    require_suffix,
    write_atomically,
)
from certree.models.demand import MAX_GRANULES
from certree.models.network.routing import DIRECT
from certree.models.network.topology import MAX_NODES
from certree.models.network.topology_file import topology_document, topology_from_document
from certree.models.schedule.collective import Collective, read_collective
from certree.models.schedule.made_for import read_made_for
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import (
    BUFFER_COLUMNS,
    MAX_BUFFERS,
    MAX_CHANNELS,
    MAX_CHUNKS,
    MAX_REPEATS,
    MAX_SLOT_CYCLES,
    MAX_STEPS,
    NO_ROOT,
    TRANSFER_COLUMNS,
)

FORMAT, VERSION, VERSION_2 = "certree-schedule", 1, 2  # the second where a field of it is used
SUFFIXES = (".json", ".json.gz", ".npz")
HEAD = "head.json"  # the first member of .npz files
_KEYS = (
    "topology", "collective", "chunks", "delay", "period", "repeats", "rounds", "transfers", "routes", "certificate", "provenance",
)  # fmt: skip
LIMITS = {
    "chunk": (0, MAX_CHUNKS), "op": (0, 1), "step": (0, MAX_STEPS), "src": (0, MAX_NODES), "dst": (0, MAX_NODES),
    "route": (DIRECT, MAX_CHUNKS),
}  # fmt: skip
_BUFFER_LIMITS = dict.fromkeys(BUFFER_COLUMNS, (0, MAX_BUFFERS - 1))
_KEYS_2 = ("buffers", "virtual_channel", "slot_cycles", "waits")  # keys of version 2, each there where it is used
MADE_FOR = "made_for"  # a key that may be missing: files had none before schedules remembered it
#: what zipfile, the decompressors and numpy's header parser raise for a damaged or a forged archive; RuntimeError: encrypted
_NPZ_ERRORS = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, OSError, EOFError, ValueError, TypeError, RuntimeError, MemoryError,
    tokenize.TokenError,
)  # fmt: skip


def load_schedule(file: Path | Opened) -> Schedule:
    """Read a schedule in certree's own formats; ScheduleFormatError or InputError says what is wrong and where."""
    document = _read_npz(file) if str(file).endswith(".npz") else read_json(file)
    return schedule_from_document(document, str(file))


def save_schedule(schedule: Schedule, path: Path, *, force: bool = False) -> None:
    """Write a schedule; the suffix chooses: .json, .json.gz, .npz, else InputError. The same schedule gives the same bytes."""
    require_suffix(path, SUFFIXES, "a schedule file")
    data = _npz_bytes(schedule) if path.suffix == ".npz" else canonical_json(schedule_document(schedule))
    write_atomically(path, data, force=force)


def schedule_document(schedule: Schedule) -> dict[str, Any]:
    """The JSON document of a schedule (its form: `certree.models.schemas.schedule_forms`)."""
    return _document(schedule, {name: getattr(schedule, name).tolist() for name in schedule.columns})


def _document(schedule: Schedule, transfers: dict[str, Any] | None) -> dict[str, Any]:
    chunks: dict[str, Any] = {"root": schedule.chunk_root.tolist() if schedule.collective.is_rooted else [None] * schedule.chunks}
    if schedule.chunk_target is not None:
        chunks["target"] = schedule.chunk_target.tolist()
    if schedule.chunk_granules is not None:
        chunks["granules"] = schedule.chunk_granules.tolist()
    return {
        "format": FORMAT,
        "version": VERSION_2 if schedule.version_2_fields else VERSION,
        "topology": topology_document(schedule.topology),
        "collective": collective_document(schedule.collective),
        "chunks": chunks,
        "delay": schedule.delay,
        "period": schedule.period,
        "repeats": schedule.repeats,
        "rounds": schedule.rounds.tolist(),
        "transfers": transfers,
        "routes": [list(route) for route in schedule.routes],
        "certificate": schedule.certificate,
        "provenance": schedule.provenance,
        **({} if schedule.made_for is None else {MADE_FOR: schedule.made_for.document()}),
        **({} if schedule.buffers == 1 else {"buffers": schedule.buffers}),
        **({} if schedule.virtual_channel is None else {"virtual_channel": schedule.virtual_channel.tolist()}),
        **({} if schedule.slot_cycles is None else {"slot_cycles": schedule.slot_cycles}),
        **({} if schedule.waits is None else {"waits": [list(entry) for entry in schedule.waits]}),
    }


def collective_document(collective: Collective) -> dict[str, Any]:
    """The table `collective` of a schedule's document."""
    named = {} if collective.members is None else {"members": list(collective.members)}
    demand = {} if collective.demand is None else {"demand": collective.demand.document()}
    return {"kind": collective.name, "root": collective.root, **named, **demand}


def schedule_from_document(document: Any, where: str) -> Schedule:
    """The schedule in a parsed JSON document."""
    fields = Fields.of_format(document, FORMAT, VERSION, where, ScheduleFormatError, VERSION_2)
    fields.only(*_KEYS, optional=[MADE_FOR, *(_KEYS_2 if document["version"] == VERSION_2 else ())])
    topology = topology_from_document(fields.raw("topology"), f"{where}: topology")
    collective = read_collective(fields.table_of("collective"), version_2=document["version"] == VERSION_2)
    values: dict[str, Any] = {
        **_chunks(fields.table_of("chunks"), collective),
        "rounds": fields.column("rounds", 1, MAX_STEPS),
        "routes": _routes(fields),
        "delay": fields.whole("delay", 1, MAX_STEPS),
        "period": fields.whole_or_none("period", 1, MAX_STEPS),
        "repeats": fields.whole("repeats", 1, MAX_REPEATS),
        **_version_2(fields),
        **evidence(fields),
    }
    limits = LIMITS if values["buffers"] == 1 else LIMITS | _BUFFER_LIMITS
    columns = fields.table_of("transfers").only(*limits).columns(limits)
    with located(where, ScheduleFormatError):
        return Schedule(topology=topology, collective=collective, **values, **columns)  # type: ignore[arg-type]


def _version_2(fields: Fields) -> dict[str, Any]:
    """The fields of version 2; each may be missing, and then has its meaning of version 1."""
    channels = fields.column("virtual_channel", 0, MAX_CHANNELS - 1) if "virtual_channel" in fields else None
    return {
        "buffers": fields.whole("buffers", 1, MAX_BUFFERS, default=1),
        "virtual_channel": channels,
        "slot_cycles": fields.whole("slot_cycles", 1, MAX_SLOT_CYCLES) if "slot_cycles" in fields else None,
        "waits": _lists(fields, "waits", MAX_SLOT_CYCLES) if "waits" in fields else None,
    }


def evidence(fields: Fields) -> dict[str, Any]:
    """The tables `certificate`, which may be null, `provenance` and `made_for`, which may be missing, of a schedule's document."""
    certificate = None if fields.raw("certificate") is None else fields.table_of("certificate").table
    made_for = read_made_for(fields.table_of(MADE_FOR)) if MADE_FOR in fields else None
    return {"certificate": certificate, "provenance": fields.table_of("provenance").table, "made_for": made_for}


def _chunks(chunks: Fields, collective: Collective) -> dict[str, np.ndarray]:
    """The columns `chunk_root` and, in a collective with targets, `chunk_target`, with a demand also `chunk_granules`."""
    names = ["root", "target"] if collective.has_targets else ["root"]
    sizes = [] if collective.demand is None else ["granules"]
    chunks.only(*names, *sizes)
    if collective.is_rooted:
        columns = {f"chunk_{name}": chunks.column(name, 0, MAX_NODES) for name in names}
        return columns | {f"chunk_{name}": chunks.column(name, 1, MAX_GRANULES) for name in sizes}
    roots = chunks.entries("root", empty=True)
    if any(root is not None for root in roots):
        chunks.refuse(f"root entries must be null in an {collective.kind}")
    return {"chunk_root": np.full(len(roots), NO_ROOT, np.int32)}


def _routes(fields: Fields) -> tuple[tuple[int, ...], ...]:
    return _lists(fields, "routes", MAX_CHUNKS - 1, "link numbers")


def _lists(fields: Fields, name: str, high: int, what: str = "whole numbers") -> tuple[tuple[int, ...], ...]:
    """Lists of whole numbers from 0."""
    lists = fields.entries(name, empty=True)
    if not all(isinstance(entry, list) and all(type(one) is int and 0 <= one <= high for one in entry) for entry in lists):
        fields.refuse(f"{name} must be a list of lists of {what}" + ("" if name == "routes" else f" from 0 to {high}"))
    return tuple(map(tuple, lists))


def _npz_bytes(schedule: Schedule) -> bytes:
    """A zip of the transfer columns and of the rest as JSON; fixed time stamps, so that bytes repeat."""
    head = canonical_json(_document(schedule, None))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo(HEAD), head, zipfile.ZIP_DEFLATED)
        for name in schedule.columns:
            column = io.BytesIO()
            np.save(column, getattr(schedule, name).astype(np.int32), allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), column.getvalue(), zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def _read_npz(file: Path | Opened) -> Any:
    try:
        with zipfile.ZipFile(io.BytesIO(read_bytes(file, MOST_COLUMNS))) as archive:
            names = [*TRANSFER_COLUMNS, *(name for name in BUFFER_COLUMNS if f"{name}.npy" in archive.namelist())]
            members = [HEAD, *(f"{name}.npy" for name in names)]
            if sorted(archive.namelist()) != sorted(members):
                raise ScheduleFormatError(f"{file} holds {sorted(archive.namelist())}; expected {members}")
            require_size(sum(info.file_size for info in archive.infolist()), MOST_COLUMNS, str(file), "unzips to")
            head = archive.read(members[0])
            columns = {name: _npy_column(archive, f"{name}.npy") for name in names}
    except _NPZ_ERRORS as error:
        raise ScheduleFormatError(f"{file} is not a certree .npz: {error}") from None
    return {**parse_object(head, f"{file}: head.json"), "transfers": columns}


def _npy_column(archive: zipfile.ZipFile, name: str) -> np.ndarray:
    """A column of the archive, unzipped as it is read: never twice in memory."""
    with archive.open(name) as stream:
        column: np.ndarray = np.lib.format.read_array(stream, allow_pickle=False)
        if stream.read(1):
            raise ValueError(f"{name} has data after its column")
    return column
