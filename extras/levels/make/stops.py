"""Paths of blocks that stop at endpoints where their routes would need too many virtual channels.

Routes that pass routers in any order wait for each other in circles, which layers of virtual channels keep apart
(`certree.verify.deadlock.layers`). With more layers than the machine can spare, messages wait in routers, which a closed form does
not see. A block that stops at an endpoint of a router on its route, which stores it and sends it on, breaks its route in two:
in-transit buffers, as Flich et al. call them ("Boosting the performance of Myrinet networks", IEEE TPDS 2002).
"""

from itertools import chain

import numpy as np

from certree.models.network.topology import NodeKind, Topology
from certree.models.routers.transparency import pipeline_effect
from certree.synth.flows.block_paths import Paths
from certree.synth.method import Request
from certree.verify.deadlock.layers import layers_of

ROUNDS = 16  # of cutting; dragonfly:9x4x2@2 takes 8

#: joined pairs, one after the other
_Path = tuple[int, ...]


def most_layers(request: Request, flits: int) -> int:
    """The most layers of virtual channels in which messages of N flits pass routers as they pass single links; or 0."""
    topology, machine = request.topology, request.machine

    def effects(*, is_far: bool, layers: int = 1) -> list[str | None]:
        """Without room in buffers and with it, since that of buffers hides that of layers."""
        return [
            pipeline_effect(topology, machine, flits, flits, is_far=is_far, layers=layers, has_room=room) for room in (False, True)
        ]

    near = effects(is_far=False)
    found = [
        layers
        for layers in range(1, machine.vc_count + 1)
        if all(far in (None, one) for far, one in zip(effects(is_far=True, layers=layers), near, strict=True))
    ]
    return max(found, default=0)


def with_stops(topology: Topology, paths: Paths, layers: int) -> Paths | None:
    """The paths with detours to endpoints, so that routes from stop to stop need no more than `layers` layers; None where some
    would need more all the same. O(ROUNDS · layers_of)."""
    whole = [tuple(paths.pair[low:high].tolist()) for low, high in zip(paths.offset[:-1], paths.offset[1:], strict=True)]
    homes, used = _homes(topology), [0] * len(topology.kind)
    for _ in range(ROUNDS):
        parts = dict.fromkeys(part for path in whole for part in _between_stops(topology, path))
        layer = dict(zip(parts, layers_of(list(parts)), strict=True))
        late = {part for part, number in layer.items() if number >= layers}
        if not late:
            offset = np.cumsum([0, *map(len, whole)]).astype(np.int32)
            return Paths(offset, np.fromiter(chain.from_iterable(whole), np.int32), paths.period)
        for number, path in enumerate(whole):
            cut = [_stopped(topology, part, homes, used) if part in late else part for part in _between_stops(topology, path)]
            whole[number] = tuple(chain.from_iterable(cut))
    return None


def _between_stops(topology: Topology, path: _Path) -> list[_Path]:
    """The parts of a path between endpoints that do not forward."""
    found: list[list[int]] = [[]]
    for pair in path:
        if found[-1] and not topology.forwards[topology.pair_src[pair]]:
            found.append([])
        found[-1].append(pair)
    return [tuple(part) for part in found]


def _homes(topology: Topology) -> dict[int, list[int]]:
    """The endpoints that each switch is joined to in both directions, ascending."""
    found: dict[int, list[int]] = {}
    ends = topology.kind == NodeKind.ENDPOINT
    for tail, head in zip(topology.pair_src.tolist(), topology.pair_dst.tolist(), strict=True):
        if ends[tail] and not ends[head] and topology.pair_index(np.array([head]), np.array([tail]))[0] >= 0:
            found.setdefault(head, []).append(tail)
    return {switch: sorted(nodes) for switch, nodes in found.items()}


def _stopped(topology: Topology, part: _Path, homes: dict[int, list[int]], used: list[int]) -> _Path:
    """The part with a detour to the endpoint that is used least, of the routers that it passes but the first and the last; itself
    where these have none."""
    passed = topology.pair_dst[list(part[1:-2])].tolist()
    choices = [
        (used[node], abs(2 * place - len(passed) + 1), node, place, switch)
        for place, switch in enumerate(passed)
        for node in homes.get(switch, ())
    ]
    if not choices:
        return part
    _, _, node, place, switch = min(choices)
    used[node] += 1
    there, back = topology.pair_index(np.array([switch, node]), np.array([node, switch])).tolist()
    return (*part[: place + 2], there, back, *part[place + 2 :])
