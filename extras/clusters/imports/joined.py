"""Boxes joined by a fabric that has a file of its own: `ibnetdiscover`, Slurm's topology.conf, or an edge list.

The names of a fabric's endpoints are those of hosts, such as `node1`, or of their interfaces, such as `node1 mlx5_0`,
`node1/mlx5_0` or `node1 HCA-1`, which is mlx5_0. A host is a box; an interface has the cables of the endpoint with its name, or
where the fabric names hosts only, one like that of its host.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from certree.extras.clusters.imports.box import Box, Cable, Port, without_interfaces
from certree.extras.clusters.imports.options import Options, matching
from certree.models.common.errors import TopologyError

_INTERFACE = re.compile(r"(.+?)[ /:]((?:HCA-|[a-z][a-z0-9]*_?[a-z]*_?)[0-9]+[a-z0-9]*)")
_COUNTED = re.compile(r"HCA-([1-9][0-9]{0,2})")
_SHOWN = 8  # names in a message


@dataclass(frozen=True)
class _Host:
    """A host of the fabric: by name of an interface the number of its endpoint; `whole`: that of the host, where it is named."""

    interfaces: dict[str, int]
    whole: int | None


def joined(boxes: Sequence[tuple[str, Box]], fabric: Box, options: Options, where: str) -> Box:
    """One box of all: boxes, each with the name of its file, at the hosts that are chosen. One box stands for all hosts."""
    hosts = _hosts(fabric, where)
    chosen = _chosen(hosts, [name for name, _ in boxes], options, where)
    placed = [box for _, box in boxes] * (len(chosen) if len(boxes) == 1 else 1)
    if any(box.is_relative for box in placed):
        raise TopologyError(f"{where} does not say how fast its links are, and a fabric has rates; give speed=NV:BANDWIDTH")
    joints = [_ports_at(host, hosts[host], box.ports, options, where) for host, box in zip(chosen, placed, strict=True)]
    ends = sum(box.gpus for box in placed)
    made = Box(ends, names=[f"{host}/{name}" for host, box in zip(chosen, placed, strict=True) for name in box.labels])
    first, limited = 0, 0
    cables = _cables_of(fabric)
    beyond = ends + sum(len(box.switches) for box in placed) - fabric.gpus  # the number of a switch of the fabric, less its own
    for host, box, joint in zip(chosen, placed, joints, strict=True):
        number = [*range(first, first + box.gpus), *(ends + len(made.switches) + index for index in range(len(box.switches)))]
        made.switches += [f"{host}/{name}" for name in box.switches]
        made.cables += [replace(cable, a=number[cable.a], b=number[cable.b]) for cable in box.cables]
        for port, endpoint in joint:
            for cable in cables[endpoint]:
                rate = cable.lane * cable.lanes
                limited += port.rate < rate
                made.cables.append(_attached(cable, endpoint, number[port.node], beyond, min(rate, port.rate)))
        first += box.gpus
    made.switches += fabric.switches
    inner = [cable for cable in fabric.cables if min(cable.a, cable.b) >= fabric.gpus]
    made.cables += [replace(cable, a=cable.a + beyond, b=cable.b + beyond) for cable in inner]
    if limited:
        options.tell("took", f"{limited} cables at the rate of their interface, which is less than that of the cable")
    _tell(options, {name: hosts[name] for name in chosen}, [box.ports for box in placed], joints)
    if len(hosts) > len(chosen):
        options.tell("left out", f"{len(hosts) - len(chosen)} other hosts of the fabric")
    return made


def _tell(options: Options, hosts: dict[str, _Host], ports: list[list[Port]], joints: list[list[tuple[Port, int]]]) -> None:
    """Say which hosts are boxes, and which interfaces have no counterpart."""
    total, names = sum(map(len, joints)), [*hosts]
    options.tell("took", f"{len(names)} hosts of the fabric as boxes, with {total} interfaces: {_shown(names)}")
    joined_ports = [[port for port, _ in joint] for joint in joints]
    missing = Counter(name for own, found in zip(ports, joined_ports, strict=True) for name in _names(own) - _names(found))
    for name, count in sorted(missing.items()):
        options.tell("left out", f"the interface {name} of {count} of {len(names)} boxes: the fabric does not list it")
    rest = sum(len(host.interfaces) - len(joint) for host, joint in zip(hosts.values(), joints, strict=True) if host.interfaces)
    if rest:
        options.tell("left out", f"{rest} interfaces of these hosts that are not among those of the boxes")


def _names(ports: Iterable[Port]) -> set[str]:
    return {"/".join(port.names) for port in ports}


def _shown(names: list[str]) -> str:
    return ", ".join(names[:_SHOWN]) + ", ..." * (len(names) > _SHOWN)


def _natural(name: str) -> list[tuple[int, str]]:
    """A key by which node2 comes before node10."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split("([0-9]+)", name)]


def _hosts(fabric: Box, where: str) -> dict[str, _Host]:
    """The hosts by name, in natural order."""
    found: defaultdict[str, dict[str, int]] = defaultdict(dict)
    whole: dict[str, int] = {}
    for number, name in enumerate(fabric.labels):
        match = _INTERFACE.fullmatch(name)
        if match is None:
            whole[name] = number
        elif match[2] in found[match[1]]:
            raise TopologyError(f"{where}: the fabric lists {name} twice")
        else:
            found[match[1]][match[2]] = number
    return {name: _Host(found.get(name, {}), whole.get(name)) for name in sorted({*found, *whole}, key=_natural)}


def _chosen(hosts: dict[str, _Host], files: list[str], options: Options, where: str) -> list[str]:
    """The host of each box, or, for one file, all hosts that have a box like it."""
    names = list(hosts)
    several, given = len(files) > 1, options.boxes if options.boxes > 1 else None
    if options.hosts:
        found = [
            name
            for pattern in options.hosts
            for name, of in zip(names, matching(names, [pattern], "hosts", where), strict=True)
            if of
        ]
        chosen = list(dict.fromkeys(found))
    elif several and set(files) <= set(names):
        chosen = files
    else:
        chosen = names
    wanted = len(files) if several else given
    if len(chosen) < 2 or (wanted is not None and len(chosen) != wanted):
        asked = f"; there are {wanted} boxes" if wanted is not None else "; a fabric joins two or more"
        order = ", in the order of the files" if several else ""
        raise TopologyError(f"{where}: {len(chosen)} host(s) of the fabric: {_shown(chosen)}{asked}; give hosts=NAME+NAME{order}")
    kinds = {tuple(sorted(hosts[name].interfaces)) for name in chosen}
    if not options.hosts and not several and len(kinds) > 1:
        options.ask(
            f"which of {len(chosen)} hosts of the fabric are such boxes, since they have different interfaces; give hosts=NAME+NAME"
        )
    return chosen


def _ports_at(name: str, host: _Host, ports: Sequence[Port], options: Options, where: str) -> list[tuple[Port, int]]:
    """The ports of a box with their endpoints in the fabric, those that have one."""
    if not ports:
        raise without_interfaces(options, where)
    if not host.interfaces and host.whole is not None:
        if len(ports) > 1:
            options.tell("assumed", f"each of the {len(ports)} interfaces of a box has a cable like that of its host")
        return [(port, host.whole) for port in ports]
    known = {_plain(interface): endpoint for interface, endpoint in host.interfaces.items()}
    if any(map(_COUNTED.fullmatch, host.interfaces)):
        options.tell("assumed", "HCA-1 of a host is its mlx5_0, HCA-2 its mlx5_1, and so on")
    found, taken = [], set[str]()
    for port in ports:
        own = next((one for one in port.names if one in known), None)
        if own is not None and own not in taken:
            taken.add(own)
            found.append((port, known[own]))
    if not found:
        mine, theirs = _shown(sorted(_names(ports))), _shown([*host.interfaces])
        raise TopologyError(
            f"{where}: host {name} has the interfaces {theirs} in the fabric, and the box has {mine}; none is in both"
        )
    return found


def _plain(interface: str) -> str:
    """The name of an interface by the usual driver where it is counted only."""
    match = _COUNTED.fullmatch(interface)
    return interface if match is None else f"mlx5_{int(match[1]) - 1}"


def _cables_of(fabric: Box) -> dict[int, list[Cable]]:
    """The cables at each endpoint."""
    found: dict[int, list[Cable]] = {number: [] for number in range(fabric.gpus)}
    for cable in fabric.cables:
        for end in {cable.a, cable.b}:
            if end < fabric.gpus:
                found[end].append(cable)
    return found


def _attached(cable: Cable, endpoint: int, node: int, beyond: int, rate: Fraction) -> Cable:
    """A cable of an endpoint, at the node of its interface in a box."""
    a, b = (node if end == endpoint else end + beyond for end in (cable.a, cable.b))
    return replace(cable, a=a, b=b, lane=rate, lanes=1)
