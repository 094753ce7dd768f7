"""The format `readmemh`: `node_*.hex` and `arrivals_*.hex` for Verilog's $readmemh, together with `table.json` and `layout.md`."""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from certree.hw.formats import EPOCH_COLUMN, FORMATS, ROUTE_COLUMN, Columns
from certree.hw.formats.banks import bank_file, checked_epochs, header
from certree.hw.formats.bit_layout import Field, Widths, hex_digits, layout_document
from certree.hw.formats.json import FILE as READABLE_FILE
from certree.hw.formats.json import JsonFormat, readable
from certree.hw.formats.source_routes import route_ports
from certree.models.common.errors import TableFormatError
from certree.models.tables.table_columns import NIL
from certree.models.tables.tables import Tables

Int64 = NDArray[np.int64]
LAYOUT_FILE = "layout.md"
ROUTES_FILE = "routes.hex"
_DIGITS = np.frombuffer(b"0123456789abcdef", np.uint8)
_NO_DIGIT = 255
_VALUE = np.full(256, _NO_DIGIT, np.uint8)
_VALUE[_DIGITS] = np.arange(16)


@FORMATS.register("readmemh")
class ReadmemhFormat:
    """Hex images for $readmemh, one memory per node, one row per line; with routes.hex, table.json and layout.md."""

    has_trace: ClassVar[bool] = False

    def files(self, tables: Tables, widths: Widths) -> dict[str, bytes]:
        """All files. Time O(rows), memory about one byte for each bit of the images."""
        row_fields, arrival_fields = widths.row(), widths.arrival()
        rows = encode(_row_matrix(tables, widths), row_fields)
        arrivals = encode(np.stack([getattr(tables, name) for name in widths.arrival_columns[1:]], axis=1), arrival_fields)
        endpoints = tables.topology.endpoints
        files = {READABLE_FILE: readable(tables, widths, epochs=False)} | {LAYOUT_FILE: layout_document(widths).encode()}
        if tables.routes:
            files[ROUTES_FILE] = encode(route_ports(tables), widths.ports())
        for prefix, image, owner, fields in (
            ("node", rows, tables.node, row_fields),
            ("arrivals", arrivals, tables.arrival_node, arrival_fields),
        ):
            line = hex_digits(fields) + 1
            bounds = zip(*(np.searchsorted(owner, endpoints, side).tolist() for side in ("left", "right")), strict=True)
            for node, (low, high) in zip(endpoints.tolist(), bounds, strict=True):
                files[file_name(prefix, node)] = image[low * line : high * line]
        if tables.epoch is not None:
            images = _node_images(files, endpoints.tolist())
            files |= {bank_file(node): header(tables.epoch, image) for node, image in images.items()}
        return files

    def columns(self, files: Mapping[str, bytes], widths: Widths, endpoints: list[int]) -> Columns:
        """The columns in the hex images; TableFormatError when table.json differs."""
        expected = {READABLE_FILE, LAYOUT_FILE} | {file_name(prefix, node) for prefix in ("node", "arrivals") for node in endpoints}
        expected |= {ROUTES_FILE} if widths.hops > 1 else set()
        has_headers = any(bank_file(node) in files for node in endpoints)
        expected |= {bank_file(node) for node in endpoints} if has_headers else set()
        if set(files) != expected:
            odd = sorted(set(files) ^ expected)[0]
            raise TableFormatError(f"{odd}: {'unexpected file' if odd in files else 'missing'}; every endpoint has its images")
        if files[LAYOUT_FILE] != layout_document(widths).encode():
            raise TableFormatError(f"{LAYOUT_FILE} does not describe the widths in the manifest")
        node, rows = _images(files, "node", widths.row(), endpoints)
        owner, arrivals = _images(files, "arrivals", widths.arrival(), endpoints)
        columns = {"node": node} | _by_name(rows, widths) | dict(zip(widths.arrival_columns, (owner, *arrivals.T), strict=True))
        columns[ROUTE_COLUMN] = decode(files.get(ROUTES_FILE, b""), widths.ports(), ROUTES_FILE)
        epochs = checked_epochs(files, _node_images(files, endpoints)) if has_headers else []
        columns[EPOCH_COLUMN] = np.array(epochs, np.int64)
        for name, told in JsonFormat().columns({READABLE_FILE: files[READABLE_FILE]}, widths, endpoints).items():
            if not np.array_equal(columns[name], told) and (name != EPOCH_COLUMN or len(told)):  # headers have the epochs
                raise TableFormatError(f"{READABLE_FILE} and the hex images differ in column {name}")
        return columns

    def check(self, files: Mapping[str, bytes], tables: Tables, widths: Widths) -> None:
        """Check nothing, since `columns` has compared all files."""


def file_name(prefix: str, node: int) -> str:
    """The image of a node: `node_0012.hex`, `arrivals_0012.hex`."""
    return f"{prefix}_{node:04d}.hex"


def _node_images(files: Mapping[str, bytes], endpoints: list[int]) -> dict[int, tuple[bytes, ...]]:
    """The contents of a bank of each node: the lines of its rows, of its arrivals, and of all routes."""
    routes = files.get(ROUTES_FILE, b"")
    return {node: (files[file_name("node", node)], files[file_name("arrivals", node)], routes) for node in endpoints}


def _row_matrix(tables: Tables, widths: Widths) -> Int64:
    parts = [getattr(tables, name) for name in widths.row_columns[1:]]
    return np.hstack([part[:, : widths.children] if part.ndim == 2 else part[:, None] for part in parts]).astype(np.int64)


def _by_name(rows: Int64, widths: Widths) -> Columns:
    """The columns of a matrix with a column for each field."""
    names = widths.row_columns[1:]
    at = names.index("children")
    end = at + widths.children
    parts = (*rows[:, :at].T, rows[:, at:end], *rows[:, end:].T)
    return dict(zip(names, parts, strict=True))


def _images(files: Mapping[str, bytes], prefix: str, fields: list[Field], endpoints: list[int]) -> tuple[Int64, Int64]:
    """Node ids and field values, shape (lines, fields), of all images of one kind, in node order."""
    images = [decode(files[file_name(prefix, node)], fields, file_name(prefix, node)) for node in endpoints]
    return np.repeat(np.array(endpoints, np.int64), [len(image) for image in images]), np.concatenate(images)


def encode(values: NDArray[np.integer], fields: list[Field]) -> bytes:
    """Lines of hex digits; `values` of shape (lines, fields), NIL as all ones."""
    bits = sum(field.bits for field in fields)
    digits = hex_digits(fields)
    line = np.zeros((len(values), 4 * digits), np.uint8)
    low = 4 * digits - bits
    for column, field in zip(values.T.astype(np.int64), fields, strict=True):
        line[:, low : low + field.bits] = (column[:, None] >> np.arange(field.bits - 1, -1, -1)) & 1
        low += field.bits
    text = np.empty((len(values), digits + 1), np.uint8)
    text[:, :-1] = _DIGITS[line.reshape(-1, digits, 4) @ np.array([8, 4, 2, 1], np.uint8)]
    text[:, -1] = ord("\n")
    return text.tobytes()


def decode(data: bytes, fields: list[Field], where: str) -> Int64:
    """The values of an image, shape (lines, fields); TableFormatError names the first line that is not a row."""
    bits = sum(field.bits for field in fields)
    digits = hex_digits(fields)
    if len(data) % (digits + 1):
        number = next((n for n, line in enumerate(data.split(b"\n"), 1) if len(line) != digits), 0)
        raise TableFormatError(f"{where}: line {number} is not {digits} hex digits long")
    text = np.frombuffer(data, np.uint8).reshape(-1, digits + 1)
    nibbles = _VALUE[text[:, :-1]]
    line = ((nibbles[:, :, None] >> np.array([3, 2, 1, 0], np.uint8)) & 1).reshape(len(text), 4 * digits)
    spare = 4 * digits - bits
    for wrong, what in (
        (text[:, -1] != ord("\n"), f"is not {digits} hex digits long"),
        ((nibbles == _NO_DIGIT).any(axis=1), "holds something other than the digits 0-9 and a-f"),
        (line[:, :spare].any(axis=1), f"has bits above the {bits} of a row"),
    ):
        if wrong.any():
            raise TableFormatError(f"{where}: line {int(np.argmax(wrong)) + 1} {what}")
    values = np.empty((len(text), len(fields)), np.int64)
    low = spare
    for place, field in enumerate(fields):
        weights = np.left_shift(1, np.arange(field.bits - 1, -1, -1, dtype=np.int64))
        values[:, place] = line[:, low : low + field.bits] @ weights
        if field.nullable:
            values[values[:, place] == (1 << field.bits) - 1, place] = NIL
        low += field.bits
    return values
