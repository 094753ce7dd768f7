"""Slurm's `topology.conf`: switches with nodes, and switches above switches (tree), or blocks of nodes (topology/block)."""

import re
from dataclasses import dataclass

from certree.extras.clusters.imports import description
from certree.extras.clusters.imports.box import Box
from certree.extras.clusters.imports.options import Options
from certree.extras.clusters.imports.texts import entries, lines_of, start_of, text_of
from certree.models.common.errors import TopologyError, short
from certree.models.common.files import Opened

MAX_NAMES = 1 << 17
_NAMED = re.compile(r"(?:SwitchName|BlockName)=\S+", re.IGNORECASE)
_SIZES = re.compile(r"BlockSizes=[0-9]+(?:,[0-9]+)*", re.IGNORECASE)
_FIELD = re.compile(r"(\w+)=(\S+)")
_KNOWN = ("switchname", "blockname", "nodes", "switches", "linkspeed")


@dataclass(frozen=True)
class _Switch:
    """A line of the file."""

    line: int
    nodes: list[str]
    switches: list[str]
    is_block: bool = False


@description("slurm", lambda start: any(_NAMED.match(line.strip()) for line in start_of(start)), ".conf")
def read_slurm(file: Opened, options: Options) -> Box:
    """.conf - Slurm's topology.conf: nodes are endpoints; speed=LINK:... is that of their cables, UPLINK of those above."""
    return box_of(lines_of(text_of(file, "Slurm's topology.conf")), options, str(file))


def box_of(lines: list[str], options: Options, where: str) -> Box:
    """The network that the lines of a `topology.conf` describe."""
    switches = _switches(lines, where)
    if is_blocks := any(switch.is_block for switch in switches.values()):
        _join_blocks(switches, options, where)
    above: dict[str, str] = {}
    for name, switch in switches.items():
        for child in (*switch.switches, *switch.nodes):
            if child in switch.switches and child not in switches:
                raise TopologyError(f"{where}: line {switch.line}: Switches names {child}, which no line describes")
            if child in switch.nodes and child in above:
                raise TopologyError(f"{where}: line {switch.line}: node {child} is below {above[child]}, too")
            above.setdefault(child, name)
    roots = [name for name in switches if name not in above]
    if len(roots) > 1:
        line = switches[roots[1]].line
        raise TopologyError(
            f"{where}: line {line}: nothing joins switch {roots[1]} to {roots[0]}; give a switch above all, or one tree"
        )
    nodes = [node for switch in switches.values() for node in switch.nodes]
    box = Box(len(nodes), list(switches), names=nodes)
    number = {name: index for index, name in enumerate([*nodes, *switches])}
    if len(number) < len(nodes) + len(switches):
        raise TopologyError(f"{where}: a node and a switch have the same name")
    _join(box, switches, number, options, is_blocks=is_blocks)
    return box


def _join_blocks(switches: dict[str, _Switch], options: Options, where: str) -> None:
    """Add a switch above all blocks: Slurm states which nodes are joined, and nothing of what joins blocks."""
    tree = next((switch for switch in switches.values() if not switch.is_block), None)
    if tree is not None:
        raise TopologyError(f"{where}: line {tree.line}: SwitchName in a file of blocks; expected BlockName in every line")
    options.tell("assumed", "the nodes of a block are joined by one switch")
    if len(switches) > 1:
        name = next(name for name in (f"{'blocks'}{'_' * more}" for more in range(len(switches) + 1)) if name not in switches)
        options.tell("assumed", f"{len(switches)} blocks are joined by one switch, each with a cable of speed=UPLINK")
        switches[name] = _Switch(0, [], list(switches))


def _join(box: Box, switches: dict[str, _Switch], number: dict[str, int], options: Options, *, is_blocks: bool) -> None:
    rate = options.speed("LINK", "a cable of the fabric")
    uplink = rate
    if any(switch.switches for switch in switches.values()):
        if "UPLINK" in options.speeds or is_blocks:
            uplink = options.speed("UPLINK", "a cable between switches")
        else:
            options.tell("assumed", "one cable between two switches, as fast as that of a node; speed=UPLINK:... states another")
    for name, switch in switches.items():
        for node in switch.nodes:
            box.join(number[node], number[name], rate)
        for below in switch.switches:
            box.join(number[below], number[name], uplink)


def _switches(lines: list[str], where: str) -> dict[str, _Switch]:
    found: dict[str, _Switch] = {}
    text, first = "", 0
    for number, line in entries(lines, "#"):
        first = first if text else number
        text += line.removesuffix("\\") + " "
        if line.endswith("\\"):
            continue
        at = f"{where}: line {first}"
        values = _fields(text.strip(), at)
        text = ""
        if not values:
            continue
        is_block = "blockname" in values
        name = values["blockname" if is_block else "switchname"]
        if name in found:
            raise TopologyError(f"{at}: switch {name} is described twice")
        nodes, below = (expanded(values.get(field, ""), at) for field in ("nodes", "switches"))
        if not nodes and not below:
            raise TopologyError(f"{at}: switch {name} has neither Nodes nor Switches")
        if len(set(nodes)) < len(nodes) or len(set(below)) < len(below) or name in below:
            raise TopologyError(f"{at}: switch {name} names a node or switch twice, or itself")
        found[name] = _Switch(first, nodes, below, is_block)
    if text:
        raise TopologyError(f"{where}: line {first}: the last line is to be continued")
    if not found:
        raise TopologyError(f"{where}: no SwitchName or BlockName")
    return found


def _fields(text: str, at: str) -> dict[str, str]:
    """The fields of a line; none of a line with the sizes of blocks, by which Slurm picks nodes."""
    if _SIZES.fullmatch(text):
        return {}
    values: dict[str, str] = {}
    for part in text.split():
        match = _FIELD.fullmatch(part)
        name = match[1].lower() if match else ""
        if match is None or name not in _KNOWN or name in values:
            raise TopologyError(
                f"{at}: {short(part)}; expected SwitchName, Nodes, Switches and LinkSpeed, or BlockName and Nodes, each once"
            )
        values[name] = match[2]
    if ("switchname" in values) == ("blockname" in values) or ("blockname" in values and set(values) != {"blockname", "nodes"}):
        raise TopologyError(f"{at}: expected SwitchName with Nodes or Switches, or BlockName with Nodes")
    return values


def expanded(text: str, at: str) -> list[str]:
    """The names of a list such as `srv[1-3,7],login`: srv1, srv2, srv3, srv7, login."""
    names: list[str] = []
    for part in re.findall(r"(?:[^,\[\]]|\[[^\]]*\])+", text):
        names += _of(part, at)
        if len(names) > MAX_NAMES:
            raise TopologyError(f"{at}: more than {MAX_NAMES} names")
    if text.count("[") != text.count("]") or (text and (not names or re.search(r",,|^,|,$|\][^,\[]*\]", text))):
        raise TopologyError(f"{at}: {short(text)} is not a list of names")
    return names


def _of(part: str, at: str) -> list[str]:
    match = re.search(r"\[([^\]]*)\]", part)
    if match is None:
        return [part]
    found = []
    for piece in match[1].split(","):
        ends = re.fullmatch(r"([0-9]{1,9})(?:-([0-9]{1,9}))?", piece)
        low, high = (int(ends[1]), int(ends[2] or ends[1])) if ends else (1, 0)
        if ends is None or low > high or high - low >= MAX_NAMES:
            raise TopologyError(f"{at}: [{short(piece)[1:-1]}] is not a range of numbers, such as [01-16]")
        numbers = [str(number).zfill(len(ends[1])) for number in range(low, high + 1)]
        found += [part[: match.start()] + number + part[match.end() :] for number in numbers]
    return [name for one in found for name in _of(one, at)]
