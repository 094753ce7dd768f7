"""Networks of ASTRA-sim's analytical back end, in YAML: building blocks for each dimension, of which the first is the innermost.

A Ring joins neighbours, FullyConnected every two, and a Switch all of the nodes that differ in that dimension only.
"""

import re
from fractions import Fraction
from itertools import product

from certree.extras.clusters.imports import description
from certree.extras.clusters.imports.box import Box
from certree.extras.clusters.imports.options import Options
from certree.extras.clusters.imports.texts import decimal, entries, lines_of, start_of, text_of
from certree.models.common.errors import TopologyError, short
from certree.models.common.files import Opened
from certree.models.network.topology import MAX_NODES

BLOCKS = ("Ring", "FullyConnected", "Switch")
_KEYS = ("topology", "npus_count", "bandwidth", "latency")
_LINE = re.compile(r"([a-z_]+):(?:\s+(.*))?")
_ITEM = re.compile(r"-\s+(.*)")


@description("astra-sim", lambda start: any(line.startswith("npus_count:") for line in start_of(start)), ".yml")
def read_astra(file: Opened, options: Options) -> Box:
    """.yml - ASTRA-sim's analytical network: Ring, FullyConnected or Switch for each dimension, GB/s and ns."""
    where = str(file)
    values = _values(lines_of(text_of(file, "ASTRA-sim's network")), where)
    sizes = [_whole(text, where) for text in values["npus_count"]]
    total = 1
    for size in sizes:
        total *= size
        if total > MAX_NODES:
            raise TopologyError(f"{where}: npus_count: more than {MAX_NODES} nodes")
    rates = [_positive(text, "bandwidth", where) * 10**9 for text in values["bandwidth"]]
    latencies = [_number(text, "latency", where) / 10**9 for text in values["latency"]]
    box = Box(total, names=[f"npu{number}" for number in range(total)])
    stride = 1
    for block, size, rate, latency in zip(values["topology"], sizes, rates, latencies, strict=True):
        if block not in BLOCKS:
            raise TopologyError(f"{where}: topology: {short(block)}; allowed: {', '.join(BLOCKS)}")
        for low, high in product(range(stride), range(0, total, stride * size)):
            _join(box, block, [high + low + stride * place for place in range(size)], rate, latency)
        stride *= size
    options.tell("took", " x ".join(f"{block} of {size}" for block, size in zip(values["topology"], sizes, strict=True)))
    options.tell("assumed", "GB/s are 10^9 bytes a second, for each link and direction")
    return box


def _join(box: Box, block: str, group: list[int], rate: Fraction, latency: Fraction) -> None:
    if block == "Switch":
        switch = box.add_switch(f"switch{len(box.switches)}")
        for node in group:
            box.join(node, switch, rate, latency=latency)
    elif block == "Ring":
        for a, b in zip(group, group[1:] + group[:1], strict=True):
            if len(group) > 2 or a < b:
                box.join(a, b, rate, latency=latency)
    else:
        for index, a in enumerate(group):
            for b in group[index + 1 :]:
                box.join(a, b, rate, latency=latency)


def _values(lines: list[str], where: str) -> dict[str, list[str]]:
    """The four lists, all of one length."""
    texts: dict[str, str] = {}  # of each key its list in brackets
    last = ""
    for number, line in entries(lines, "#"):
        match, item = _LINE.fullmatch(line), _ITEM.fullmatch(line)
        is_open = last and not texts[last].endswith("]")
        if is_open and texts[last].startswith("["):
            texts[last] += f" {line}"
        elif is_open and item and "," not in line:
            texts[last] += f",{item[1]}" if texts[last] else item[1]
        elif match is None or match[1] not in _KEYS or match[1] in texts:
            raise TopologyError(
                f"{where}: line {number}: {short(line)}; expected {', '.join(_KEYS)}, each once, as KEY: [ ... ] or with a line"
                " '- VALUE' for each dimension"
            )
        else:
            last = match[1]
            texts[last] = (match[2] or "").strip()
    values = {name: _cells(text, name, where) for name, text in texts.items()}
    for name in _KEYS:
        if name not in values:
            raise TopologyError(f"{where}: no {name}")
        if len(values[name]) != len(values["topology"]):
            raise TopologyError(f"{where}: {len(values[name])} values of {name} for {len(values['topology'])} dimensions")
    return values


def _cells(text: str, name: str, where: str) -> list[str]:
    """The values of a list, with or without brackets."""
    inside = text[1:-1] if text.startswith("[") and text.endswith("]") else text
    cells = [cell.strip().strip("\"'") for cell in inside.split(",")]
    if "[" in inside or "]" in inside or not all(cells):
        raise TopologyError(f"{where}: {name}: {short(text)}; expected values with commas between them, in brackets")
    return cells


def _whole(text: str, where: str) -> int:
    if not re.fullmatch("[0-9]{1,7}", text) or int(text) < 2:
        raise TopologyError(f"{where}: npus_count: {short(text)}; allowed: whole numbers from 2")
    return int(text)


def _positive(text: str, name: str, where: str) -> Fraction:
    value = _number(text, name, where)
    if not value:
        raise TopologyError(f"{where}: {name}: {short(text)}; allowed: above 0")
    return value


def _number(text: str, name: str, where: str) -> Fraction:
    if (value := decimal(text)) is None:
        raise TopologyError(f"{where}: {name}: {short(text)}; expected a decimal number")
    return value
