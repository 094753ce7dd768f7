"""BookSim's networks: `anynet` files, and configuration files that name one, a mesh or a torus.

A line of an anynet file is `router R`, then what it is joined with: `node N` or `router R`, and the latency in cycles where it is
not 1. A connection of routers that is listed in one direction only has the same latency in the other.
"""

import re
from fractions import Fraction
from pathlib import Path

from certree.extras.clusters.imports import description
from certree.extras.clusters.imports.box import Box, Cable
from certree.extras.clusters.imports.options import Options
from certree.extras.clusters.imports.texts import entries, lines_of, start_of, text_of
from certree.models.common.errors import TopologyError, short
from certree.models.common.files import Opened
from certree.models.network.families import load_families
from certree.models.network.topology import Topology

_FIRST = re.compile(r"router\s+[0-9]+(\s+(node|router)\s+[0-9]+(\s+[0-9]+)?)*\s*")
_SETTING = re.compile(r"\s*([a-z_0-9]+)\s*=\s*([^;]*?)\s*;\s*")
_GRIDS = ("mesh", "torus")
MAX_GRID = 1 << 12  # nodes


def _is_anynet(start: bytes) -> bool:
    first = next((line for line in start_of(start) if line.strip()), "")
    return _FIRST.fullmatch(first.strip()) is not None


def _is_configuration(start: bytes) -> bool:
    settings = [match[1] for line in start_of(start) if (match := _SETTING.fullmatch(line.split("//")[0]))]
    return "topology" in settings


@description("booksim-anynet", _is_anynet)
def read_anynet(file: Opened, options: Options) -> Box:
    """.txt - BookSim's anynet: routers and nodes, links of one flit per cycle, latencies in cycles; speed=LINK:... is the rate."""
    where = str(file)
    routers: set[int] = set()
    home: dict[int, tuple[int, int]] = {}  # node -> router, latency
    joined: dict[tuple[int, int], int] = {}
    for number, line in entries(lines_of(text_of(file, "BookSim's anynet")), "//"):
        at = f"{where}: line {number}"
        router, ends = _line(line, at)
        routers.add(router)
        for kind, other, latency in ends:
            if kind == "router":
                if other == router or joined.setdefault((router, other), latency) != latency:
                    raise TopologyError(f"{at}: router {router} is joined with router {other} in two ways, or with itself")
                routers.add(other)
            elif home.setdefault(other, (router, latency)) != (router, latency):
                raise TopologyError(f"{at}: node {other} is at router {home[other][0]}, too")
    for names, what in ((home, "node"), (routers, "router")):
        if sorted(names) != list(range(len(names))):
            raise TopologyError(f"{where}: {what}s are not numbered 0 to {max(len(names) - 1, 0)}")
    return _anynet_box(home, len(routers), joined, options)


def _line(line: str, at: str) -> tuple[int, list[tuple[str, int, int]]]:
    """The router of a line, and (kind, number, latency) of what it is joined with."""
    words = line.split()
    if not _FIRST.fullmatch(line) or any(len(word) > 7 for word in words):
        raise TopologyError(f"{at}: {short(line)}; expected router R, then node N or router R, each with a latency or without")
    return int(words[1]), _with_latencies(words[2:])


def _with_latencies(words: list[str]) -> list[tuple[str, int, int]]:
    found, at = [], 0
    while at < len(words):
        has_latency = at + 2 < len(words) and words[at + 2].isdigit()
        found.append((words[at], int(words[at + 1]), int(words[at + 2]) if has_latency else 1))
        at += 2 + has_latency
    return found


def _anynet_box(home: dict[int, tuple[int, int]], routers: int, joined: dict[tuple[int, int], int], options: Options) -> Box:
    nodes = len(home)
    box = Box(nodes, [f"router{number}" for number in range(routers)], names=[f"node{number}" for number in range(nodes)])
    rate = options.speeds.get("LINK")
    box.is_relative = rate is None
    lane = Fraction(1) if rate is None else rate
    for node, (router, latency) in sorted(home.items()):
        box.join(node, nodes + router, lane, latency=_latency(latency, box))
    for (a, b), latency in sorted(joined.items()):
        back = joined.get((b, a), latency)
        if back != latency:
            box.cables.append(Cable(nodes + a, nodes + b, lane, 1, _latency(latency, box), one_way=True))
        elif a < b or (b, a) not in joined:
            box.join(nodes + a, nodes + b, lane, latency=_latency(latency, box))
    if rate is not None:
        options.tell("left out", "latencies in cycles, whose length nothing states")
    options.tell("took", f"{nodes} nodes at {routers} routers")
    return box


def _latency(cycles: int, box: Box) -> Fraction | None:
    return Fraction(cycles) if box.is_relative else None


@description("booksim", _is_configuration)
def read_configuration(file: Opened, options: Options) -> Box:
    """.cfg - BookSim's configuration: topology anynet with its network_file, mesh or torus with k and n."""
    where = str(file)
    settings: dict[str, str] = {}
    for number, line in entries(lines_of(text_of(file, "BookSim's configuration")), "//"):
        match = _SETTING.fullmatch(line)
        if match is None or (match[1] in settings and match[1] in ("topology", "network_file", "k", "n", "c")):
            raise TopologyError(f"{where}: line {number}: {short(line)}; expected NAME = VALUE; with each name once")
        settings[match[1]] = match[2].strip('"')
    kind = settings.get("topology")
    if kind == "anynet":
        name = settings.get("network_file", "")
        beside = file.path.parent / Path(name).name
        if not name or not beside.is_file():
            raise TopologyError(
                f"{where}: network_file is {short(name)}, and no such file is next to it; give the anynet file itself"
            )
        return read_anynet(Opened(beside), options)
    if kind not in _GRIDS:
        raise TopologyError(f"{where}: topology is {short(kind)}; read are anynet, {', '.join(_GRIDS)}")
    return _grid(kind, settings, options, where)


def _grid(kind: str, settings: dict[str, str], options: Options, where: str) -> Box:
    size, dimensions, share = (settings.get(name, default) for name, default in (("k", ""), ("n", ""), ("c", "1")))
    if not all(re.fullmatch("[1-9][0-9]{0,3}", text) for text in (size, dimensions, share)) or int(share) != 1:
        raise TopologyError(f"{where}: k={size}, n={dimensions}, c={share}; expected whole numbers k and n, and c=1 if at all")
    if int(size) < 2 or int(dimensions) > 20 or int(size) ** int(dimensions) > MAX_GRID:
        raise TopologyError(f"{where}: {size}^{dimensions} nodes; allowed: 2 to {MAX_GRID}")
    found: Topology = load_families()[kind]("x".join([size] * int(dimensions)))
    rate = options.speeds.get("LINK")
    box = Box(len(found.kind), names=[f"node{number}" for number in range(len(found.kind))], is_relative=rate is None)
    lane = Fraction(1) if rate is None else rate
    for a, b in zip(found.src.tolist(), found.dst.tolist(), strict=True):
        if a < b:
            box.join(a, b, lane)
    options.tell("took", f"a {kind} of {size} nodes in each of {dimensions} dimensions")
    options.tell("left out", "latencies, traffic and everything else but the network")
    return box
