"""Flows of hierarchical co-located PS on a tree of switches whose levels take place in any order."""

from collections.abc import Sequence

import numpy as np

from certree.extras.costs.make.plan import basic_placement
from certree.extras.costs.model.flows.flows import Flows, Int64
from certree.models.network.routing import routes_between
from certree.models.network.topology import Topology
from certree.models.schedule.paths import route_of
from certree.synth.graphs.switch_tree import CROSSING, switch_tree

#: what comes together: servers of a switch, switches of a data centre, data centres
LEVELS = ("middle", "root", "crossing")
#: a level, and the size of the groups that come together, 0 for all that is left of it
Step = tuple[str, int]
ALL = -1  # in a key: everything has come together


class Ordered:
    """A tree of one or two data centres of switches with servers, and where Algorithm 1 of GenTree reduces each block.

    Partial sums have a key: data centre, switch in it and server of the switch, or the number of a group of these, or ALL. The sum
    of a block of each key lies at one server: where a level is complete the one that Algorithm 1 says, else the key's own (modulo
    the servers of a smaller switch). Blocks are as many as servers. O(blocks · servers) memory.
    """

    def __init__(self, topology: Topology) -> None:
        tree = switch_tree(topology)
        tops = tree.children[CROSSING] if tree.root == CROSSING else (tree.root,)
        centres = [[child for child in tree.children[top] if child in tree.children] or [top] for top in tops]
        place = basic_placement(tree)
        self._topology, self._blocks = topology, len(topology.endpoints)
        nodes, widest = len(topology.kind), max(map(len, centres))
        most = max(len(tree.children[switch]) for switches in centres for switch in switches)
        self._server = np.full((len(centres), widest, most), -1, np.int64)
        self._size = np.ones((len(centres), widest), np.int64)
        where = np.zeros((nodes, 3), np.int64)
        for centre, switches in enumerate(centres):
            for number, switch in enumerate(switches):
                servers = tree.children[switch]
                self._server[centre, number, : len(servers)] = servers
                self._size[centre, number] = len(servers)
                where[list(servers)] = [(centre, number, index) for index in range(len(servers))]
        self._centre = where[place[tree.root], 0]
        self._switch = np.stack([where[place[top], 1] for top in tops])
        self._index = np.zeros((len(centres), widest, self._blocks), np.int64)
        for centre, switches in enumerate(centres):
            for number, switch in enumerate(switches):
                self._index[centre, number] = where[place[switch], 2]
        self._first = where[topology.endpoints]

    def all_reduce(self, steps: Sequence[Step]) -> list[Flows]:
        """The flows of the reduce-scatter's steps in turn, then those of the all-gather, which is its reversal."""
        keys, group = self._first.copy(), [1, 1, 1]
        held = self._holders(keys, group)
        there: list[Flows] = []
        back: list[Flows] = []
        for level, size in steps:
            column = 2 - LEVELS.index(level)
            merged = keys.copy()
            merged[:, column] = keys[:, column] // size if size else ALL
            group[column] *= size
            keys, cluster = np.unique(merged, axis=0, return_inverse=True)
            after = self._holders(keys, group)
            there.append(self._flows(held, after, cluster.ravel(), back=False))
            back.append(self._flows(held, after, cluster.ravel(), back=True))
            held = after
        return there + back[::-1]

    def _holders(self, keys: Int64, group: Sequence[int]) -> Int64:
        """The server of every key and block; `group`: how many of a level's members a number in a key stands for."""
        block = np.arange(self._blocks)[None, :]
        centre = np.where(keys[:, :1] == ALL, self._centre[None, :], keys[:, :1])
        switch = _own(keys[:, 1:2], self._switch[centre, block], group[1])
        size = self._size[centre, switch]
        index = _own(keys[:, 2:], self._index[centre, switch, block], group[2]) % size
        servers: Int64 = self._server[centre, switch, index]
        return servers

    def _flows(self, held: Int64, after: Int64, cluster: Int64, *, back: bool) -> Flows:
        nodes = np.int64(len(self._topology.kind))
        src, dst = held.ravel(), after[cluster].ravel()
        far, parts = np.unique((src * nodes + dst)[src != dst], return_counts=True)
        src, dst = far // nodes, far % nodes
        if back:
            src, dst = dst, src
        hop_flow, hop_pair = route_of(self._topology, src, dst, *routes_between(self._topology, src, dst))
        terms = np.bincount(cluster)[:, None]
        additions, accesses = (np.zeros(nodes, np.int64) for _ in range(2))
        if not back:
            np.add.at(additions, after, np.broadcast_to(terms - 1, after.shape))
            np.add.at(accesses, after, np.broadcast_to(np.where(terms > 1, terms + 1, 0), after.shape))
        return Flows(self._topology, self._blocks, src, dst, parts.astype(np.int64), hop_flow, hop_pair, additions, accesses)


def _own(key: Int64, owner: Int64, group: int) -> Int64:
    """A member by number: the owner where all has come together, else the owner's place in the key's group."""
    return np.where(key == ALL, owner, key * group + owner % group if group else owner)
