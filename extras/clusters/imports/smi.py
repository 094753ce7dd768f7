"""The matrix of `nvidia-smi topo -m`: how any two devices of a box are connected.

NV# is a bond of # NVLinks. The other entries name where the paths of two devices meet: PIX (one PCIe bridge), PXB (several), PHB
(a host bridge), NODE (within a socket), SYS (between sockets). Devices that meet at a level get a switch there, and speed=LEVEL is
the speed of the links into it. An entry NV# hides where two GPUs meet on PCIe; it is inferred from other entries where possible.
"""

import re
from itertools import combinations

from certree.extras.clusters.imports import description
from certree.extras.clusters.imports.box import LEVELS, Box, Options
from certree.models.common.errors import TopologyError

_DEVICE = re.compile(r"(GPU|NIC)[0-9]{1,4}|mlx[45]_(bond_)?[0-9]{1,4}")
_ESCAPE = re.compile(r"\x1b\[[0-9;]*m")  # the header is underlined on a terminal
Matrix = dict[tuple[str, str], str]


@description("nvidia-smi", ".txt", lambda start: re.search(rb"^\s*GPU0\t", start, re.MULTILINE) is not None)
def read_smi(data: bytes, options: Options, where: str) -> Box:
    """.txt - the output of `nvidia-smi topo -m`; speeds of NV and of the levels PIX, PXB, PHB, NODE, SYS, NET by option."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise TopologyError(f"{where}: not the text of `nvidia-smi topo -m`: {error}") from None
    devices, matrix = _matrix(text, where)
    gpus = [name for name in devices if name.startswith("GPU")]
    nics = [name for name in devices if not name.startswith("GPU")]
    if len(gpus) < 2:
        raise TopologyError(f"{where}: {len(gpus)} GPU(s); a box has at least 2")
    box = Box(len(gpus))
    number = {name: index for index, name in enumerate(gpus)}
    _join_nvlinks(box, number, matrix, options, where)
    if options.nvlink_only:
        return box
    if options.boxes > 1:
        number |= {name: box.add_switch(name.lower()) for name in nics}
        box.ports += [(number[name], options.speed("NET", where, f"the port of {name}")) for name in nics]
    _join_levels(box, number, matrix, options, where)
    return box


def _matrix(text: str, where: str) -> tuple[list[str], Matrix]:
    """The devices in the order of the header, and the entry of every ordered pair."""
    lines = [_ESCAPE.sub("", line).split() for line in text.splitlines()]
    start = next((row for row, cells in enumerate(lines) if len(cells) > 1 and cells[0] == "GPU0" and cells[1] != "X"), None)
    if start is None:
        raise TopologyError(f"{where}: no header line that begins with GPU0: not the output of `nvidia-smi topo -m`")
    devices = []
    for cell in lines[start]:
        if not _DEVICE.fullmatch(cell):
            break
        devices.append(cell)
    if len(set(devices)) < len(devices):
        raise TopologyError(f"{where}: line {start + 1}: a device is named twice")
    rows = {cells[0]: (row, cells[1:]) for row, cells in enumerate(lines[start + 1 :], start=start + 2) if cells}
    matrix: Matrix = {}
    for name in devices:
        line, cells = rows.get(name, (0, []))
        if len(cells) < len(devices):
            raise TopologyError(f"{where}: {f'line {line}: ' * (line > 0)}{len(cells)} entries for {name}; expected {len(devices)}")
        for other, cell in zip(devices, cells, strict=False):
            if not (cell == "X" if name == other else cell in LEVELS or re.fullmatch("NV[1-9][0-9]?", cell)):
                allowed = "X" if name == other else f"NV#, {', '.join(LEVELS)}"
                raise TopologyError(f"{where}: line {line}: {name} to {other} is {cell!r}; allowed: {allowed}")
            matrix[name, other] = cell
    for a, b in combinations(devices, 2):
        if matrix[a, b] != matrix[b, a]:
            raise TopologyError(f"{where}: {a} to {b} is {matrix[a, b]}, but {b} to {a} is {matrix[b, a]}")
    return devices, matrix


def _join_nvlinks(box: Box, number: dict[str, int], matrix: Matrix, options: Options, where: str) -> None:
    bonds = {pair: int(matrix[pair][2:]) for pair in combinations(number, 2) if matrix[pair].startswith("NV")}
    if not bonds:
        return
    speed = options.speed("NV", where, "one NVLink")
    is_uniform = len(bonds) == box.gpus * (box.gpus - 1) // 2 and len(set(bonds.values())) == 1 and box.gpus > 2
    if is_uniform and options.nvlinks is None:
        raise TopologyError(
            f"{where}: every two GPUs show {next(iter(bonds.values()))} NVLinks, either to each other or to switches;"
            " give nvlinks=direct or nvlinks=switched"
        )
    if options.nvlinks == "switched":
        if not is_uniform:
            raise TopologyError(f"{where}: nvlinks=switched, but not every two GPUs show the same number of NVLinks")
        switch = box.add_switch("nvswitch")
        for gpu in number.values():
            box.join(gpu, switch, speed, next(iter(bonds.values())))
        return
    for (a, b), count in bonds.items():
        box.join(number[a], number[b], speed, count)


def _join_levels(box: Box, number: dict[str, int], matrix: Matrix, options: Options, where: str) -> None:
    """A switch for every group of devices that meet at a level, from the innermost level outwards."""
    import networkx as nx

    meets = nx.Graph()
    meets.add_nodes_from(sorted({name for pair in matrix for name in pair}))
    top: dict[str, int | None] = {name: number.get(name) for name in meets}  # omitted interfaces still show which devices meet
    for level in LEVELS:
        meets.add_edges_from(pair for pair, cell in matrix.items() if cell == level)
        for group in sorted(sorted(names) for names in nx.connected_components(meets)):
            inside = sorted({node for name in group if (node := top[name]) is not None})
            if len(inside) > 1:
                switch = box.add_switch(f"{level.lower()}{len(box.switches)}")
                speed = options.speed(level, where, f"a link into the switch where paths of kind {level} meet")
                for node in inside:
                    box.join(node, switch, speed)
                inside = [switch]
            for name in group:
                top[name] = inside[0] if inside else None
