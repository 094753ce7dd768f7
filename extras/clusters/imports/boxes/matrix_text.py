"""The matrices in the text of `nvidia-smi topo -m`, with everything around them that terminals, logs and mails add."""

import re
from dataclasses import dataclass, field
from itertools import combinations

from certree.extras.clusters.imports.options import LEVELS
from certree.models.common.errors import TopologyError, short

_GPU = re.compile(r"GPU[0-9]{1,4}")
_ENTRY = re.compile(rf"X|NV[1-9][0-9]?|SOC|{'|'.join(LEVELS)}")
_ENTRY_LIKE = re.compile(r"X|NV[0-9]+|SOC|PIX|PXB|PHB|NODE|SYS")
_GLUED = re.compile(r"(\S+?)CPU")  # the last device and the head of the next column
_AFFINITY = re.compile(r"[0-9]+(?:-[0-9]+)?(?:,[0-9]+(?:-[0-9]+)?)*|N/A")
_AFTER = {"CPU", "NUMA", "GPU", "Affinity"}  # the columns after the devices
_LEGEND = re.compile(r"[\s#]*(NIC[0-9]{1,4}):\s+(\S+)\s*")
_HOST = re.compile(r"(?:[=#*\s-]*)([A-Za-z0-9][\w.-]*?)(?::|@|\s*[=#*-]{2,}|)\s*")
_PROMPT = re.compile(r"[\[(]?(?:[\w.-]+@)?([\w.-]+)[^$#>]*[$#>]\s+\S.*")
_COMMENT = re.compile(r"\s*#+\s")  # as scripts quote a matrix
_PREFIX = re.compile(r"([A-Za-z0-9][\w.@-]*): *")


@dataclass
class Matrix:
    """Devices in the order of the header, the entry of every ordered pair, the line of each row, the names of interfaces, and the
    name of the host, if the text has it."""

    devices: list[str]
    cells: dict[tuple[str, str], str]
    line: dict[str, int]
    host: str | None = None
    legend: dict[str, str] = field(default_factory=dict)

    @staticmethod
    def is_gpu(name: str) -> bool:
        """Whether a device is a GPU."""
        return _GPU.fullmatch(name) is not None


@dataclass
class _Header:
    """The row of a header, its devices, and whether the last one is glued to the next column."""

    row: int
    devices: list[str]
    is_glued: bool


def find_headers(lines: list[str]) -> list[_Header]:
    """The header lines: devices, of which the first is a GPU, and below them a row of one of these."""
    prefixes, found = _prefixes(lines), []
    every = [_cells(line, prefixes) for line in lines]
    for row, cells in enumerate(every):
        glued = _GLUED.fullmatch(cells[0]) if cells else None
        if not cells or not _GPU.fullmatch(glued[1] if glued else cells[0]) or (len(cells) > 1 and _ENTRY_LIKE.fullmatch(cells[1])):
            continue
        devices = []
        for cell in cells:
            if cell in _AFTER:
                break
            glued = _GLUED.fullmatch(cell)
            devices.append(glued[1] if glued else cell)
            if glued:
                break
        if any(len(below) > 1 and below[0] in devices and _ENTRY_LIKE.match(below[1]) for below in every[row + 1 :]):
            found.append(_Header(row, devices, glued is not None))
    return found


def _prefixes(lines: list[str]) -> set[str]:
    """Names that parallel shells write before every line of a host, such as `node-a: GPU0 ...`."""
    starts = [(match[1], line[match.end() :].split()) for line in lines if (match := _PREFIX.match(line))]
    return {name for name, cells in starts if len(cells) > 1 and _GPU.fullmatch(cells[0]) and not _ENTRY_LIKE.fullmatch(cells[1])}


def _cells(line: str, prefixes: set[str]) -> list[str]:
    match = _PREFIX.match(line)
    return _COMMENT.sub("", line[match.end() :] if match and match[1] in prefixes else line, count=1).split()


def matrices(lines: list[str], where: str) -> list[Matrix]:
    """All matrices in the lines of a file. TopologyError names the line, row and column of what contradicts itself."""
    prefixes, headers = _prefixes(lines), find_headers(lines)
    legend = {match[1]: match[2] for line in lines if (match := _LEGEND.fullmatch(line))}
    found, before = [], 0
    for index, header in enumerate(headers):
        end = headers[index + 1].row if index + 1 < len(headers) else len(lines)
        prefix = _PREFIX.match(lines[header.row])
        is_prefixed = prefix is not None and prefix[1] in prefixes
        own = [
            (number, _cells(line, prefixes))
            for number, line in enumerate(lines[header.row + 1 :], header.row + 2)
            if (line.startswith(f"{prefix[1]}:") if is_prefixed and prefix else number <= end)
        ]
        matrix = _matrix(header, own, where)
        matrix.host = prefix[1] if is_prefixed and prefix else _host(lines[before : header.row])
        matrix.legend = legend if len(headers) == 1 else {}
        found.append(matrix)
        before = max(matrix.line.values(), default=header.row)
    return found


def _host(lines: list[str]) -> str | None:
    """The name of the host in the last line before a matrix that holds one."""
    for line in reversed(lines):
        match = _PROMPT.fullmatch(line.strip()) or _HOST.fullmatch(line)
        if match and match[1] not in ("nvidia-smi", "Legend"):
            return match[1]
        if re.search("[A-Za-z0-9]", line) and not line.lstrip().startswith("$"):
            return None
    return None


def _matrix(header: _Header, lines: list[tuple[int, list[str]]], where: str) -> Matrix:
    devices = header.devices
    at = f"{where}: line {header.row + 1}"
    if len(set(devices)) < len(devices):
        raise TopologyError(f"{at}: a device is named twice")
    rows: dict[str, tuple[int, list[str]]] = {}
    for line, cells in lines:
        name = cells[0] if cells else ""
        if name in devices:
            if name in rows:
                raise TopologyError(f"{where}: line {line}: {name} has two rows, the first in line {rows[name][0]}")
            rows[name] = (line, cells[1:])
        elif len(cells) > 1 and all(_ENTRY_LIKE.fullmatch(cell) for cell in cells[1 : len(devices) + 1]):
            raise TopologyError(
                f"{where}: line {line}: a row of {short(name)}, which is not in the header of line {header.row + 1}"
            )
    for name in devices:
        if "MIG" in name:
            raise TopologyError(f"{at}: {name} is a part of a GPU (MIG), which has no links of its own; list GPUs")
    matrix = Matrix(devices, {}, {name: line for name, (line, _) in rows.items()})
    for name in devices:
        line, cells = rows.get(name, (header.row + 1, []))
        _check_length(name, line, cells, header, where)
        for other, cell in zip(devices, cells, strict=False):
            matrix.cells[name, other] = cell
    if header.is_glued:
        _unglue(matrix, where)
    _check_cells(matrix, where)
    return matrix


def _check_length(name: str, line: int, cells: list[str], header: _Header, where: str) -> None:
    count = len(header.devices)
    if len(cells) < count:
        raise TopologyError(f"{where}: line {line}: {len(cells)} entries for {name}; expected {count}")
    if len(cells) > count and _ENTRY_LIKE.fullmatch(cells[count]):
        raise TopologyError(f"{where}: line {line}: more than {count} entries for {name}, as many as the header has devices")


def _unglue(matrix: Matrix, where: str) -> None:
    """Part the entries of the last column from what follows them: by the row of the last device, which shows them again."""
    last = matrix.devices[-1]
    sure = {cell[1:] for cell in (matrix.cells[last, last],) if _AFFINITY.fullmatch(cell[1:])}
    for name in matrix.devices:
        cell = matrix.cells[name, last]
        if _ENTRY.fullmatch(cell) and not cell.startswith("NV"):
            continue
        parts = [cell[:end] for end in range(1, len(cell) + 1) if _ENTRY.fullmatch(cell[:end]) and _is_affinity(cell[end:])]
        parts = [part for part in parts if cell[len(part) :] in sure] or parts
        back = "X" if name == last else matrix.cells[last, name]
        if back not in parts:
            raise TopologyError(
                f"{where}: line {matrix.line[name]}: {name} to {last} is {cell!r}, glued to the next column, and {last} to"
                f" {name} is {back}"
            )
        matrix.cells[name, last] = back


def _is_affinity(text: str) -> bool:
    return not text or _AFFINITY.fullmatch(text) is not None


def _check_cells(matrix: Matrix, where: str) -> None:
    """Entries are known, a device is X to itself, and rows agree with columns. SOC becomes SYS, its later name."""
    for (name, other), cell in matrix.cells.items():
        if not _ENTRY.fullmatch(cell) or (cell == "X") != (name == other):
            allowed = "X" if name == other else f"NV#, {', '.join(LEVELS)}"
            raise TopologyError(f"{where}: line {matrix.line[name]}: {name} to {other} is {cell!r}; allowed: {allowed}")
        if cell.startswith("NV") and not (matrix.is_gpu(name) and matrix.is_gpu(other)):
            raise TopologyError(f"{where}: line {matrix.line[name]}: {name} to {other} is {cell}, but only GPUs have NVLinks")
    for a, b in combinations(matrix.devices, 2):
        if matrix.cells[a, b] != matrix.cells[b, a]:
            raise TopologyError(f"{where}: {a} to {b} is {matrix.cells[a, b]}, but {b} to {a} is {matrix.cells[b, a]}")
    matrix.cells |= {pair: "SYS" for pair, cell in matrix.cells.items() if cell == "SOC"}
