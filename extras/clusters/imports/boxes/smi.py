"""The matrix of `nvidia-smi topo -m`: how any two devices of a box are connected.

NV# is a bond of # NVLinks. The other entries name where the paths of two devices meet: PIX (one PCIe bridge), PXB (several), PHB
(a host bridge), NODE (within a socket), SYS (between sockets; SOC in old versions). Devices that meet at a level get a switch
there, and speed=LEVEL is the speed of the links into it. An entry NV# hides where two GPUs meet on PCIe; it is inferred from
other entries where possible.
"""

from itertools import combinations

from certree.extras.clusters.imports import description
from certree.extras.clusters.imports.box import Box, Port
from certree.extras.clusters.imports.boxes.matrix_text import Matrix, find_headers, matrices
from certree.extras.clusters.imports.boxes.nvlinks import join_nvlinks
from certree.extras.clusters.imports.options import LEVELS, Options
from certree.extras.clusters.imports.texts import lines_of, start_of, text_of
from certree.models.common.errors import TopologyError
from certree.models.common.files import Opened
from certree.models.network.network_files import unknown_file

_WHAT = "`nvidia-smi topo -m`"


@description("nvidia-smi", lambda start: bool(find_headers(start_of(start))), ".txt")
def read_smi(file: Opened, options: Options) -> Box:
    """.txt - the output of `nvidia-smi topo -m`; speeds of NV and of the levels PIX, PXB, PHB, NODE, SYS, NET by option."""
    where = str(file)
    matrix = _host(matrices(lines_of(text_of(file, _WHAT)), where), options, where)
    gpus = [name for name in matrix.devices if matrix.is_gpu(name)]
    nics = [name for name in matrix.devices if not matrix.is_gpu(name)]
    if len(gpus) * options.boxes < 2:
        raise TopologyError(f"{where}: {len(gpus)} GPU(s); a box has at least 2 (boxes=N joins boxes of one)")
    _check_levels(matrix, where)
    box = Box(len(gpus))
    number = {name: index for index, name in enumerate(gpus)}
    join_nvlinks(box, gpus, _bonds(matrix, gpus), {pair: matrix.cells[pair] for pair in combinations(gpus, 2)}, options, where)
    if options.nvlink_only:
        options.tell("left out", f"PCIe, sockets{f' and {len(nics)} network interfaces' if nics else ''}: links=nvlink")
        return box
    if options.boxes > 1:
        number |= {name: box.add_switch(name.lower()) for name in nics}
        rate = options.speed("NET", f"the port of {nics[0]}") if nics else None
        box.ports += [Port(number[name], rate, (name, matrix.legend.get(name, name))) for name in nics if rate is not None]
    elif nics:
        options.tell("left out", f"{len(nics)} network interfaces: a single box has no fabric")
    _join_levels(box, number, matrix, options)
    return box


def _host(found: list[Matrix], options: Options, where: str) -> Matrix:
    """The matrix of the host that was chosen; the only one needs no choice."""
    if not found:
        raise TopologyError(unknown_file(where))
    hosts = [matrix.host or f"{index}" for index, matrix in enumerate(found)]
    names = [f"{host}#{hosts[:index].count(host)}" if hosts.count(host) > 1 else host for index, host in enumerate(hosts)]
    if options.host is None and len(found) == 1:
        return found[0]
    if options.host not in names:
        known = " or ".join(f"host={name}" for name in names)
        given = f"host={options.host} is not in it" if options.host else "a box is one host"
        raise TopologyError(f"{where}: {len(found)} matrices, of {', '.join(names)}; {given}; give {known}")
    options.tell("took", f"host {options.host} of {len(found)}")
    return found[names.index(options.host)]


def _bonds(matrix: Matrix, gpus: list[str]) -> dict[tuple[int, int], int]:
    """NVLinks of the pairs of GPUs that have some."""
    found = {}
    for (a, first), (b, second) in combinations(enumerate(gpus), 2):
        if (cell := matrix.cells[first, second]).startswith("NV"):
            found[a, b] = int(cell[2:])
    return found


def _check_levels(matrix: Matrix, where: str) -> None:
    """Paths form a tree: two devices meet no farther out than both meet a third one."""
    level = {pair: LEVELS.index(cell) for pair, cell in matrix.cells.items() if cell in LEVELS}
    for a, b in combinations(matrix.devices, 2):
        for c in matrix.devices:
            ends = (level.get((a, b)), level.get((a, c)), level.get((c, b)))
            if None not in ends and ends[0] > max(ends[1:]):  # type: ignore[type-var,operator]
                found, first, second = (LEVELS[end] for end in ends if end is not None)
                raise TopologyError(
                    f"{where}: line {matrix.line[a]}: {a} to {b} is {found}, but {a} to {c} is {first} and {c} to {b} is {second}:"
                    " they meet there at the latest"
                )


def _join_levels(box: Box, number: dict[str, int], matrix: Matrix, options: Options) -> None:
    """A switch for every group of devices that meet at a level, from the innermost level outwards."""
    import networkx as nx

    meets = nx.Graph()
    meets.add_nodes_from(sorted({name for pair in matrix.cells for name in pair}))
    top: dict[str, int | None] = {name: number.get(name) for name in meets}  # omitted interfaces still show which devices meet
    for level in LEVELS:
        meets.add_edges_from(pair for pair, cell in matrix.cells.items() if cell == level)
        for group in sorted(sorted(names) for names in nx.connected_components(meets)):
            inside = sorted({node for name in group if (node := top[name]) is not None})
            if len(inside) > 1:
                switch = box.add_switch(f"{level.lower()}{len(box.switches)}")
                speed = options.speed(level, f"a link into the switch where paths of kind {level} meet")
                for node in inside:
                    box.join(node, switch, speed)
                inside = [switch]
            for name in group:
                top[name] = inside[0] if inside else None
