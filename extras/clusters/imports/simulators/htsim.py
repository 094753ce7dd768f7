"""Fat trees of htsim (`.topo`): nodes, tiers and pods, and for each tier the radix of its switches, rates and latencies.

Tier 0 has the switches of the nodes. With three tiers a pod has `Podsize` nodes: its switches of tier 0 are all joined with those
of its tier 1, and place p of tier 1 in every pod with the same switches of tier 2. With two tiers all are joined. `Bundle` is the
number of cables between two switches, or a switch and a node, stated at the upper one; rates and latencies are those of its
cables down.
"""

import re
from fractions import Fraction

from certree.extras.clusters.imports import description
from certree.extras.clusters.imports.box import Box
from certree.extras.clusters.imports.options import Options
from certree.extras.clusters.imports.texts import decimal, entries, lines_of, start_of, text_of
from certree.models.common.errors import TopologyError, short
from certree.models.common.files import Opened
from certree.models.network.topology import MAX_NODES

MOST_CABLES = 1 << 16  # into a tier: each is joined by itself, in a few seconds for all
_HEAD = ("nodes", "tiers", "podsize")
_TIER = ("downlink_speed_gbps", "radix_down", "radix_up", "downlink_latency_ns", "bundle")
_IGNORED = ("queue_down", "queue_up", "oversubscribed", "switch_latency_ns")
_TIERED = re.compile(r"tiers\s+[0-9]", re.IGNORECASE)
_Settings = dict[str, Fraction]


@description("htsim", lambda start: any(_TIERED.match(line.strip()) for line in start_of(start)), ".topo")
def read_htsim(file: Opened, options: Options) -> Box:
    """.topo - a fat tree of htsim: nodes, tiers, pods, radix, Gb/s and ns of each tier."""
    where = str(file)
    head, tiers = _settings(lines_of(text_of(file, "a topology of htsim")), where)
    nodes, count = int(head["nodes"]), int(head["tiers"])
    pod = int(head.get("podsize", nodes)) if count > 2 else nodes
    if count not in (2, 3) or len(tiers) != count or not 2 <= nodes <= MAX_NODES or nodes % pod:
        raise TopologyError(f"{where}: {nodes} nodes, {count} tiers ({len(tiers)} described), pods of {pod}; expected 2 or 3 tiers")
    if count == 2 and head.get("podsize", nodes) != nodes:
        raise TopologyError(f"{where}: Podsize is {head['podsize']}; with two tiers all {nodes} nodes are one pod")
    box = Box(nodes, names=[f"node{number}" for number in range(nodes)])
    pods, leaves = nodes // pod, _divided(pod, tiers[0]["radix_down"], f"{where}: Radix_Down of tier 0")
    leaf = [[box.add_switch(f"tier0.{index}.{place}") for place in range(leaves)] for index in range(pods)]
    for node in range(nodes):
        _join(box, node, leaf[node // pod][node % pod * leaves // pod], tiers[0])
    above = _upper(box, leaf, tiers[0], tiers[1], 1, where)
    if count == 3:
        for place in zip(*above, strict=True):
            _upper(box, [list(place)], tiers[1], tiers[2], 2, where)
    options.tell("took", f"a fat tree of {count} tiers: {pods} pods of {leaves} switches at nodes, {len(box.switches)} in all")
    options.tell("left out", "queues and latencies of switches")
    return box


def _upper(box: Box, below: list[list[int]], lower: _Settings, upper: _Settings, tier: int, where: str) -> list[list[int]]:
    """The switches above each group of switches, all of which are joined with them."""
    bundle = upper.get("bundle", Fraction(1))
    if "radix_up" not in lower:
        raise TopologyError(f"{where}: tier {tier - 1} has no Radix_Up")
    count = _divided(int(lower["radix_up"]), bundle, f"{where}: Bundle of tier {tier}")
    if upper["radix_down"] != len(below[0]) * bundle:
        raise TopologyError(
            f"{where}: Radix_Down of tier {tier} is {upper['radix_down']}; {len(below[0])} switches below it with {bundle} cable(s)"
            f" each make {len(below[0]) * bundle}"
        )
    if sum(map(len, below)) * count > MOST_CABLES:
        raise TopologyError(
            f"{where}: over {MOST_CABLES} cables into tier {tier}: Radix_Up of tier {tier - 1} is {lower['radix_up']}"
        )
    above = []
    for group in below:
        above.append([box.add_switch(f"tier{tier}.{len(box.switches)}") for _ in range(count)])
        for node in group:
            for other in above[-1]:
                _join(box, node, other, upper)
    return above


def _join(box: Box, node: int, switch: int, tier: _Settings) -> None:
    latency = tier.get("downlink_latency_ns")
    rate = tier["downlink_speed_gbps"] * 10**9 / 8
    box.join(node, switch, rate, int(tier.get("bundle", 1)), None if latency is None else latency / 10**9)


def _divided(number: int, part: Fraction, what: str) -> int:
    if number % part:
        raise TopologyError(f"{what} is {part}; expected a divisor of {number}")
    return int(number / part)


def _settings(lines: list[str], where: str) -> tuple[_Settings, list[_Settings]]:
    """The settings of the network, and those of each tier."""
    head: _Settings = {}
    tiers: list[_Settings] = []
    for number, line in entries(lines, "#"):
        name, *values = line.lower().split()
        at = f"{where}: line {number}"
        value = decimal(values[0]) if len(values) == 1 else None
        if value is None:
            raise TopologyError(f"{at}: {short(line)}; expected NAME NUMBER")
        if name == "tier":
            if value != len(tiers):
                raise TopologyError(f"{at}: tier {value}; expected tier {len(tiers)}")
            tiers.append({})
            continue
        known, place = (_TIER, tiers[-1]) if tiers else (_HEAD, head)
        if name in place or (name not in known and name not in _IGNORED):
            raise TopologyError(f"{at}: {short(line)}; expected {', '.join(known)}, each once")
        is_whole = value.denominator == 1 and value > 0
        if name in known and not is_whole and name not in ("downlink_speed_gbps", "downlink_latency_ns"):
            raise TopologyError(f"{at}: {name} is {values[0]}; expected a whole number from 1")
        place[name] = value
    for index, names in [
        (None, ("nodes", "tiers")),
        *((index, ("downlink_speed_gbps", "radix_down")) for index in range(len(tiers))),
    ]:
        for name in names:
            if not (head if index is None else tiers[index]).get(name):
                raise TopologyError(f"{where}: {'' if index is None else f'tier {index} has '}no {name}, or it is 0")
    return head, tiers
