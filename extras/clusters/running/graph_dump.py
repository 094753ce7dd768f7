"""NCCL's graph dump (NCCL_GRAPH_DUMP_FILE): `graphs` > `graph` > `channel` > `gpu`, `net`. It has the chains of one box; those of
several boxes of the same kind are joined as NCCL does it."""

import re

from certree.extras.clusters.running.channels import (
    CHILDREN,
    MAX_CHANNELS,
    RING,
    TREE,
    Channels,
    require_ring,
    through_boxes,
    trees_through_boxes,
)
from certree.models.common.elements import Element, parse_elements
from certree.models.common.errors import InputError, short
from certree.models.common.files import Opened

_RINGS, _TREES = 0, 1  # ids of graphs; the others are of switches and interfaces that add
_RING_PATTERN = 4
_MOST_ID = 15
_DEVICE = re.compile("[0-9]{1,4}|0x[0-9a-fA-F]{1,16}")


def read_graph_dump(opened: Opened, endpoints: int | None) -> Channels:
    """The channels for a network with N endpoints; None: for one box. InputError names the line of what is wrong."""
    where = str(opened)
    root = parse_elements(opened.data(), where)
    if root.tag != "graphs":
        raise InputError(f"{where}: line {root.line}: <{root.tag}>; expected <graphs>")
    graphs: dict[int, Element] = {}
    for graph in root.children:
        number = _whole(graph, "graph", "id", _MOST_ID, where)
        if number in graphs:
            raise InputError(f"{where}: line {graph.line}: graph {number} is there twice")
        graphs[number] = graph
    rings = _chains(graphs.get(_RINGS), (_RING_PATTERN,), where)
    trees = _chains(graphs.get(_TREES), tuple(CHILDREN), where)
    if not rings and not trees:
        raise InputError(f"{where}: neither a graph of rings (id 0) nor one of trees (id 1) with channels")
    devices = sorted((rings or trees)[0])
    place = {device: index for index, device in enumerate(devices)}
    for chain in (*rings, *trees):
        if sorted(chain) != devices:
            raise InputError(f"{where}: channels of different GPUs: {sorted(chain)} and {devices}")
    boxes = _boxes(len(devices), endpoints, where)
    pattern = int(graphs[_TREES].attributes["pattern"]) if trees else 1
    size = boxes * len(devices)
    found = [[place[device] for device in chain] for chain in rings]
    made = tuple(require_ring(through_boxes(chain, boxes), size, where) for chain in found)
    joined = [[place[device] for device in chain] for chain in trees]
    several = tuple(tree for chain in joined for tree in trees_through_boxes(chain, pattern, boxes))
    missing = {} if rings else {RING: "the dump has no graph of rings"}
    return Channels(made, several, missing | ({} if trees else {TREE: "the dump has no graph of trees"}))


def _boxes(gpus: int, endpoints: int | None, where: str) -> int:
    if endpoints is None:
        return 1
    if endpoints % gpus:
        raise InputError(
            f"{where}: chains of {gpus} GPUs; the network has {endpoints} endpoints, which are not whole boxes of these"
        )
    return endpoints // gpus


def _chains(graph: Element | None, patterns: tuple[int, ...], where: str) -> list[list[int]]:
    """The GPUs of each channel of a graph, in order; none where it is missing or has no channels."""
    if graph is None:
        return []
    pattern, count = (_whole(graph, "graph", name, MAX_CHANNELS, where) for name in ("pattern", "nchannels"))
    if count and pattern not in patterns:
        allowed = " or ".join(map(str, patterns))
        raise InputError(f"{where}: line {graph.line}: graph {graph.attributes['id']} has pattern {pattern}; expected {allowed}")
    found = [_chain(channel, where) for channel in graph.children]
    if len(found) != count:
        raise InputError(f"{where}: line {graph.line}: {len(found)} channels; nchannels is {count}")
    return found


def _chain(channel: Element, where: str) -> list[int]:
    if channel.tag != "channel":
        raise InputError(f"{where}: line {channel.line}: <{channel.tag}>; expected <channel>")
    kinds = [child.tag for child in channel.children]
    gpus = [child for child in channel.children if child.tag == "gpu"]
    inside = kinds[1:-1] if kinds[:1] == ["net"] and kinds[-1:] == ["net"] else kinds
    if not gpus or inside != ["gpu"] * len(gpus):
        raise InputError(
            f"{where}: line {channel.line}: a channel of {', '.join(kinds) or 'nothing'}; expected gpu, net at both ends"
        )
    for net in (child for child in channel.children if child.tag == "net"):
        _device(net, where)
    found = [_device(gpu, where) for gpu in gpus]
    if len(set(found)) < len(found):
        raise InputError(f"{where}: line {channel.line}: a GPU is twice in a channel")
    return found


def _device(element: Element, where: str) -> int:
    """The number of a GPU or an interface; recent versions write it in base 16, with the number of its host above 56 bits."""
    text = element.attributes.get("dev", "")
    if not _DEVICE.fullmatch(text):
        raise InputError(f"{where}: line {element.line}: dev of <{element.tag}> is {short(text)}; expected such as 3 or 0x3")
    return int(text, 0) if text.startswith("0x") else int(text)


def _whole(element: Element, tag: str, name: str, most: int, where: str) -> int:
    text = element.attributes.get(name, "")
    if element.tag != tag:
        raise InputError(f"{where}: line {element.line}: <{element.tag}>; expected <{tag}>")
    if not re.fullmatch("[0-9]{1,6}", text) or int(text) > most:
        raise InputError(f"{where}: line {element.line}: {name} of <{tag}> is {short(text)}; allowed: 0 to {most}")
    return int(text)
