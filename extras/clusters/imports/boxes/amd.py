"""The output of `rocm-smi --showtopo` and `amd-smi topology`, as text or JSON: link type, weight and hops of every two GPUs.

XGMI of one hop and the least weight is a link; what has more is reached through other GPUs. Neither tool states how PCIe joins
GPUs; those without XGMI meet at the socket of their NUMA node.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from typing import Any

from certree.extras.clusters.imports import description
from certree.extras.clusters.imports.box import Box
from certree.extras.clusters.imports.options import Options
from certree.extras.clusters.imports.texts import decoded, lines_of, start_of, text_of
from certree.models.common.errors import TopologyError, short
from certree.models.common.files import Opened, parse_json

TYPES = ("XGMI", "PCIE")
_TABLES = {  # the words with which tables begin, by what they hold
    "weight": re.compile(r"=* *Weight between two GPUs *=*|WEIGHT TABLE:"),
    "hops": re.compile(r"=* *Hops between two GPUs *=*|HOPS TABLE:"),
    "type": re.compile(r"=* *Link Type between two GPUs *=*|LINK TYPE TABLE:"),
    "bandwidth": re.compile(r"=* *Bandwidth between two GPUs *=*|NUMA BW TABLE:"),
}
_OTHER_TABLE = re.compile(r"={2,}.*={2,}|[A-Z][A-Z -]* TABLE:|Legend:")
_NUMA = re.compile(r"GPU\[([0-9]{1,3})\]\s*: \(Topology\) Numa Node: (-?[0-9]{1,4})")
_DRM = re.compile(r"\(Topology\) (Weight|Hops|Link type) between DRM devices ([0-9]{1,3}) and ([0-9]{1,3})", re.IGNORECASE)
_BANDWIDTH = re.compile(r"([0-9]{1,7})-([0-9]{1,7})")
_LISTED = re.compile(r'"link_type"|\(Topology\) \w+(?: \w+)? between DRM devices')


def _matches(start: bytes) -> bool:
    lines = [line.strip() for line in start_of(start)]
    return any(table.fullmatch(line) for line in lines for table in _TABLES.values()) or (
        decoded(start, "replace").lstrip()[:1] in ("{", "[") and _LISTED.search(decoded(start, "replace")) is not None
    )


@dataclass
class _Pairs:
    """GPUs by name, in their order, and what the tables show of ordered pairs: `shown[table][a, b]`. `numa`: nodes by GPU."""

    gpus: list[str] = field(default_factory=list)
    shown: dict[str, dict[tuple[str, str], str]] = field(default_factory=lambda: {name: {} for name in _TABLES})
    numa: dict[str, str] = field(default_factory=dict)

    def add(self, table: str, a: str, b: str, text: str, where: str) -> None:
        """Add an entry; TopologyError for a second one."""
        if (a, b) in self.shown[table]:
            raise TopologyError(f"{where}: the {table} of {a} to {b} is given twice")
        self.shown[table][a, b] = text.upper()


@description("amd-smi", _matches)
def read_amd(file: Opened, options: Options) -> Box:
    """.txt, .json - the output of `rocm-smi --showtopo` or `amd-smi topology`; speed=XGMI:... where no table has it."""
    where = str(file)
    text = text_of(file, "`rocm-smi --showtopo` or `amd-smi topology`")
    if text.lstrip()[:1] in ("{", "["):
        pairs = _from_json(parse_json(text.encode(), where), where)
    else:
        pairs = _from_text(lines_of(text), where)
    _complete(pairs, where)
    if len(pairs.gpus) < 2:
        raise TopologyError(f"{where}: {len(pairs.gpus)} GPU(s); a box has at least 2")
    return _box(pairs, options, where)


def _from_text(lines: list[str], where: str) -> _Pairs:
    pairs, table, header = _Pairs(), None, None
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if numa := _NUMA.fullmatch(text):
            pairs.numa[f"GPU{numa[1]}"] = numa[2]
        elif found := next((name for name, start in _TABLES.items() if start.fullmatch(text)), None):
            if pairs.shown[found]:
                raise TopologyError(f"{where}: line {number}: a second table of this kind; expected the output for one host")
            table, header = found, None
        elif _OTHER_TABLE.fullmatch(text):
            table = None
        elif table is not None and text:
            cells = text.split()
            if header is None:
                header = cells
                pairs.gpus = pairs.gpus or header
                if header != pairs.gpus or len(set(header)) < len(header):
                    raise TopologyError(f"{where}: line {number}: the GPUs of this table are not those of the first one")
            elif cells[0] not in header or len(cells) != len(header) + 1:
                raise TopologyError(
                    f"{where}: line {number}: {len(cells) - 1} entries for {short(cells[0])}; expected a GPU of the header and"
                    f" {len(header)} entries"
                )
            else:
                for other, cell in zip(header, cells[1:], strict=True):
                    pairs.add(table, cells[0], other, cell, f"{where}: line {number}")
    return pairs


def _from_json(document: Any, where: str) -> _Pairs:
    if isinstance(document, Mapping):
        return _from_rocm(document, where)
    pairs = _Pairs()
    if not isinstance(document, list) or not all(isinstance(gpu, Mapping) for gpu in document):
        raise TopologyError(f"{where}: expected a list of GPUs, each an object")
    for gpu in document:
        a, links = str(gpu.get("gpu")), gpu.get("links")
        if not isinstance(links, list) or not all(isinstance(link, Mapping) for link in links) or a in pairs.gpus:
            raise TopologyError(f"{where}: gpu {short(a)} has no list of links, or is listed twice")
        pairs.gpus.append(a)
        for link in links:
            b = str(link.get("gpu"))
            names = {"weight": "weight", "hops": "num_hops", "type": "link_type", "bandwidth": "bandwidth"}
            for table, name in names.items():
                if name in link:
                    pairs.add(table, a, b, str(link[name]), where)
    return pairs


def _from_rocm(document: Mapping[str, Any], where: str) -> _Pairs:
    """Each pair is stated once; the other direction is the same."""
    pairs, found = _Pairs(), set()
    for section in document.values():
        for name, value in section.items() if isinstance(section, Mapping) else ():
            if match := _DRM.fullmatch(name):
                table = match[1].lower().removeprefix("link ")
                if match[2] == match[3]:
                    raise TopologyError(f"{where}: {short(name)}: a GPU and itself")
                pairs.add(table, match[2], match[3], str(value), where)
                if (match[3], match[2]) not in pairs.shown[table]:
                    pairs.shown[table][match[3], match[2]] = str(value).upper()
                found |= {match[2], match[3]}
    pairs.gpus = sorted(found, key=int)
    for table in ("weight", "hops"):
        pairs.shown[table] |= {(gpu, gpu): "0" for gpu in pairs.gpus}
    pairs.shown["type"] |= {(gpu, gpu): "SELF" for gpu in pairs.gpus}
    for name, section in document.items():
        if re.fullmatch("card[0-9]{1,3}", name) and isinstance(section, Mapping) and "(Topology) Numa Node" in section:
            pairs.numa[name.removeprefix("card")] = str(section["(Topology) Numa Node"])
    return pairs


def _complete(pairs: _Pairs, where: str) -> None:
    """Every table that is there has all entries, and rows agree with columns."""
    shown = pairs.shown
    for table, cells in shown.items():
        if not cells and table == "bandwidth":
            continue
        unknown = {name for pair in cells for name in pair} - set(pairs.gpus)
        if unknown:
            raise TopologyError(f"{where}: the table of {table} has {short(min(unknown))}, which is none of the GPUs")
        for a in pairs.gpus:
            for b in pairs.gpus:
                if (a, b) not in cells:
                    raise TopologyError(f"{where}: no {table} of {a} to {b}; expected tables of weight, hops and link type")
                _check_entry(table, a, b, cells[a, b], where)
        for a, b in combinations(pairs.gpus, 2):
            if cells[a, b] != cells[b, a]:
                raise TopologyError(f"{where}: the {table} of {a} to {b} is {cells[a, b]}, but {b} to {a} is {cells[b, a]}")
    for a, b in combinations(pairs.gpus, 2):
        if int(shown["hops"][a, b]) < 1 or int(shown["weight"][a, b]) < 1:
            raise TopologyError(
                f"{where}: {a} to {b} has {shown['hops'][a, b]} hops of weight {shown['weight'][a, b]}; allowed: from 1"
            )


def _check_entry(table: str, a: str, b: str, text: str, where: str) -> None:
    own = {"weight": ("0",), "hops": ("0",), "type": ("0", "SELF"), "bandwidth": ("N/A", "0-0")}[table]
    allowed = {"weight": "a whole number", "hops": "a whole number", "type": " or ".join(TYPES), "bandwidth": "LEAST-MOST or N/A"}
    is_right = text in own if a == b else text in TYPES if table == "type" else re.fullmatch(r"[0-9]{1,4}", text) is not None
    if table == "bandwidth" and a != b:
        is_right = text == "N/A" or _BANDWIDTH.fullmatch(text) is not None
    if not is_right:
        expected = " or ".join(own) if a == b else allowed[table]
        raise TopologyError(f"{where}: the {table} of {a} to {b} is {short(text)}; allowed: {expected}")


def _box(pairs: _Pairs, options: Options, where: str) -> Box:
    shown, number = pairs.shown, {name: index for index, name in enumerate(pairs.gpus)}
    box, distant = Box(len(pairs.gpus)), 0
    xgmi = [pair for pair in combinations(pairs.gpus, 2) if shown["type"][pair] == "XGMI"]
    least = min((int(shown["weight"][pair]) for pair in xgmi), default=0)
    for pair in xgmi:
        weight = int(shown["weight"][pair])
        if weight % least:
            raise TopologyError(
                f"{where}: the weight of {pair[0]} to {pair[1]} is {weight}; expected a multiple of {least}, the least one"
            )
        if weight == least and shown["hops"][pair] == "1":
            box.join(number[pair[0]], number[pair[1]], _rate(pairs, pair, options, where))
        else:
            distant += 1
    options.tell("took", f"XGMI between {len(xgmi) - distant} pairs of GPUs, those of one hop and the least weight")
    if distant:
        options.tell("left out", f"{distant} pairs of more hops or weight: they are joined through other GPUs")
    if options.nvlink_only or len(xgmi) == len(number) * (len(number) - 1) // 2:
        options.tell("left out", "PCIe and NUMA nodes: no table says how they join GPUs")
    else:
        _join_sockets(box, pairs, options)
    return box


def _rate(pairs: _Pairs, pair: tuple[str, str], options: Options, where: str) -> Fraction:
    """The most bandwidth that the table states, in MB/s, or the option."""
    match = _BANDWIDTH.fullmatch(pairs.shown["bandwidth"].get(pair, ""))
    if match is None or not int(match[2]):
        return options.speed("XGMI", f"XGMI between two GPUs, such as {pair[0]} and {pair[1]}")
    if int(match[1]) > int(match[2]):
        raise TopologyError(f"{where}: the bandwidth of {pair[0]} to {pair[1]} is {match[0]}; expected LEAST-MOST")
    options.tell("took", "the most bandwidth of each pair, in MB/s")
    return Fraction(int(match[2]) * 10**6)


def _join_sockets(box: Box, pairs: _Pairs, options: Options) -> None:
    """GPUs meet at the socket of their NUMA node, and sockets are all joined."""
    if len(pairs.numa) < len(pairs.gpus):
        options.tell("assumed", "one socket: not every GPU states its NUMA node")
    nodes = sorted({pairs.numa.get(name, "0") if len(pairs.numa) == len(pairs.gpus) else "0" for name in pairs.gpus})
    socket = {node: box.add_switch(f"numa{node}") for node in nodes}
    rate = options.speed("PCIE", "PCIe of a GPU")
    for index, name in enumerate(pairs.gpus):
        box.join(index, socket[pairs.numa[name] if len(nodes) > 1 or pairs.numa.get(name) in socket else nodes[0]], rate)
    for a, b in combinations(nodes, 2):
        box.join(socket[a], socket[b], options.speed("SYS", f"the link between any two of its {len(nodes)} sockets"))
