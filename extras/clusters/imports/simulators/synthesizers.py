"""Inputs of TACCL and TE-CCL, in JSON: they name a machine and state its speeds, but not which GPUs are joined.

The links are those of the family that assume=MACHINE names.
"""

import math
import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from certree.extras.clusters.imports import description
from certree.extras.clusters.imports.box import Box, Port
from certree.extras.clusters.imports.boxes.nvlinks import join_switch
from certree.extras.clusters.imports.options import Options
from certree.extras.clusters.imports.texts import decoded
from certree.models.common.errors import TopologyError, short
from certree.models.common.files import Opened, parse_object
from certree.models.network.spec import parse_topology

_PER = 10**6  # bytes: TACCL states microseconds for a megabyte
_TACCL = re.compile(r'"(?:node_betas_list|node_invbws_list)"\s*:')
_TECCL = re.compile(r'\{\s*"TopologyParams"\s*:')


@description("taccl", lambda start: _TACCL.search(decoded(start, "replace")) is not None)
def read_taccl(file: Opened, options: Options) -> Box:
    """.json - a machine of TACCL: speeds by number of NVLinks, interfaces; assume=MACHINE gives the links between GPUs."""
    where = str(file)
    document = parse_object(file.data(), where)
    gpus, nics = (_whole(document, name, where) for name in ("gpus_per_node", "nics_per_node"))
    rates = [Fraction(_PER * 10**6) / cost for cost in _costs(document, where)]
    box = _machine(gpus, document.get("name"), options, where)
    if box is None:
        return Box(gpus)
    counts = sorted({cable.lanes for cable in box.cables}, reverse=True)
    if len(counts) != len(rates):
        raise TopologyError(f"{where}: {len(rates)} speeds of links, and GPUs of the machine are joined by {counts} NVLinks")
    of = dict(zip(counts, sorted(rates, reverse=True), strict=True))
    cables, box.cables = box.cables, []
    for cable in cables:
        box.join(cable.a, cable.b, of[cable.lanes])
    options.tell("took", "speeds of links between GPUs: " + ", ".join(f"{float(rate) / 10**9:.4g} GB/s" for rate in of.values()))
    options.tell("assumed", "1 MB is 10^6 bytes")
    options.tell("left out", "start-up times (alpha), which are not those of links")
    remote = Fraction(_PER * 10**6) / _positive(document.get("remote_invbw", document.get("remote_beta")), "remote_invbw", where)
    _add_interfaces(box, nics, remote, options, where)
    return box


@description("teccl", lambda start: _TECCL.match(decoded(start, "replace").lstrip()) is not None)
def read_teccl(file: Opened, options: Options) -> Box:
    """.json - an input of TE-CCL, which names a machine: assume=MACHINE gives its links, boxes=N their number."""
    where = str(file)
    parameters = parse_object(file.data(), where).get("TopologyParams")
    if not isinstance(parameters, Mapping) or not isinstance(parameters.get("name"), str):
        raise TopologyError(f"{where}: TopologyParams has no name")
    if parameters["name"].lower() == "mesh":
        side = _whole(parameters, "side_length", where)
        raise TopologyError(f"{where}: TopologyParams: the name Mesh is no machine; give the network mesh:{side}x{side}")
    chassis = _whole(parameters, "chassis", where) if "chassis" in parameters else 1
    if chassis != options.boxes:
        options.ask(f"how its {chassis} boxes are joined; give boxes={chassis} with a fabric")
    box = _machine(None, parameters["name"], options, where)
    if box is None:
        return Box(2)
    kind = "XGMI" if options.assumed and "XGMI" in options.assumed.speeds else "NV"
    rate = options.speed(kind, f"one link between GPUs ({kind})")
    cables, box.cables = box.cables, []
    for cable in cables:
        box.join(cable.a, cable.b, rate, cable.lanes)
    if options.boxes > 1:
        _add_interfaces(box, 1, options.speed("NET", "an interface of a box"), options, where)
    options.tell("left out", "chunks, epochs and settings of the solver")
    return box


def _machine(gpus: int | None, name: object, options: Options, where: str) -> Box | None:
    """The box of the machine that is assumed, with NVLinks as lanes; asks for it where none is."""
    assumed = options.assumed
    if assumed is None:
        options.ask(f"which GPUs of {short(name)} are joined; give assume=MACHINE, such as assume=dgx1")
        return None
    if assumed.family is not None:
        family = parse_topology(assumed.family)
        box = Box(len(family.kind))
        one = math.gcd(*family.capacity.tolist())  # the capacity of one link
        for a, b, units in zip(family.src.tolist(), family.dst.tolist(), family.capacity.tolist(), strict=True):
            if a < b:
                box.join(a, b, Fraction(1), units // one)
    else:
        box = Box(gpus or 8)
        join_switch(box, [int((assumed.nvlinks or "").partition(":")[2])] * box.gpus, Fraction(1), options)
    if gpus is not None and gpus != box.gpus:
        raise TopologyError(f"{where}: {gpus} GPUs; {assumed.name} has {box.gpus}")
    options.tell("assumed", f"GPUs of {short(name)} are joined as those of {assumed.name}, in the same order")
    return box


def _add_interfaces(box: Box, count: int, rate: Fraction, options: Options, where: str) -> None:
    """Interfaces that all GPUs of their part of the box reach."""
    if options.boxes == 1:
        options.tell("left out", f"{count} interface(s): a single box has no fabric")
        return
    if box.gpus % count:
        raise TopologyError(f"{where}: {count} interfaces for {box.gpus} GPUs; expected a divisor")
    for number in range(count):
        node = box.add_switch(f"nic{number}")
        box.ports.append(Port(node, rate, (f"nic{number}",)))
        for gpu in range(number * box.gpus // count, (number + 1) * box.gpus // count):
            box.join(gpu, node, rate)
    options.tell("assumed", f"a GPU reaches its interface at the interface's rate, {box.gpus // count} GPUs an interface")


def _costs(document: Mapping[str, Any], where: str) -> list[Fraction]:
    found = document.get("node_invbws_list", document.get("node_betas_list"))
    if not isinstance(found, list) or not found:
        raise TopologyError(f"{where}: node_invbws_list is {short(found)}; expected a list of microseconds for a megabyte")
    return [_positive(value, "node_invbws_list", where) for value in found]


def _positive(value: object, name: str, where: str) -> Fraction:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 10**9:
        raise TopologyError(f"{where}: {name}: {short(value)}; expected a positive number")
    return Fraction(str(value))


def _whole(document: Mapping[str, Any], name: str, where: str) -> int:
    value = document.get(name)
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 4096:
        raise TopologyError(f"{where}: {name} is {short(value)}; allowed: whole numbers from 1 to 4096")
    return value
