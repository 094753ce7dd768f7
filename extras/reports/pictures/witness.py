"""The witness of a lower bound on its network: the parts, the cut, the lengths or the farthest pair."""

import textwrap
from collections.abc import Mapping
from typing import Any

import numpy as np

from certree.extras.reports.pictures.colours import CHUNKS, INK, WRONG, lightened, shade
from certree.extras.reports.pictures.ground import Ground
from certree.extras.reports.pictures.svg import Sheet
from certree.models.network.topology import NodeKind, Topology

QUIET, CUT = "#c9d3dc", "#c8102e"


def witness_picture(topology: Topology, bound: Mapping[str, Any], title: str, words: str) -> str:
    """SVG of a bound document ({kind, quantity, value, witness}, as `certree.verify.bounds` checks it). `words`: what it proves.

    UnsupportedError for networks that are too large.
    """
    sheet = Sheet()
    ground = Ground(sheet, topology)
    ground.frames()
    drawing = _Witness(ground, bound["witness"])
    below = drawing.draw(str(bound["kind"]))
    wide = max(60, int(ground.size[0] / 6))
    lines = [line for text in (below, words) for line in textwrap.wrap(text, wide)]
    ground.words(title, lines, INK)
    return sheet.render()


class _Witness:
    """One witness in the making; each function returns what the colours mean."""

    def __init__(self, ground: Ground, witness: Mapping[str, Any]) -> None:
        self.ground, self.topology, self.witness = ground, ground.topology, witness

    def draw(self, kind: str) -> str:
        """Draw by what the witness has."""
        if "part" in self.witness:
            return self._groups(np.array(self.witness["part"]), "messages between the parts pass the red channels")
        if "sets" in self.witness:
            group = np.full(len(self.topology.kind), -1)
            for number, nodes in enumerate(self.witness["sets"]):
                group[list(nodes)] = number
            return self._groups(group, "red: the channels between the sets")
        if "set" in self.witness or kind == "degree":
            inside = self.witness["set"] if "set" in self.witness else [self.witness["node"]]
            group = np.zeros(len(self.topology.kind), np.int64)
            group[list(inside)] = 1
            return self._groups(group, "red: the channels into the set and out of it")
        if "length" in self.witness:
            return self._lengths(self.witness["length"])
        if "hops" in self.witness:
            return self._distance()
        if "label" in self.witness:
            return self._labels()
        if kind == "receptions":
            return self._receptions()
        if kind == "copies":
            return self._copies()
        if "bound" in self.witness:
            self.witness = self.witness["bound"]["witness"]
            return self.draw(kind)
        return self._groups(np.arange(len(self.topology.kind)), "each endpoint sends and receives through its own channels")

    def _groups(self, group: np.ndarray, words: str) -> str:
        between = group[self.topology.pair_src] != group[self.topology.pair_dst]
        for pair in np.argsort(between, kind="stable").tolist():
            self.ground.channel(pair, CUT if between[pair] else QUIET, 1.8 if between[pair] else 1.0, head=bool(between[pair]))
        used = [int(part) for part in np.unique(group[self.topology.kind != NodeKind.ABSENT]) if part >= 0]
        colours = {part: lightened(CHUNKS[place % len(CHUNKS)], 0.45) for place, part in enumerate(used)}
        single = len(used) == int((self.topology.kind != NodeKind.ABSENT).sum())
        for node in range(len(self.topology.kind)):
            self.ground.node(node, fill="" if single else colours.get(int(group[node]), ""))
        parts = f"{len(used)} parts{', one for each node' if single else ', by colour'}"
        return f"{parts}; {words}: {int(between.sum())} of {len(between)}"

    def _lengths(self, length: list[int]) -> str:
        most, least = max(length), min(length)
        of_pair = np.zeros(len(self.topology.pair_src))
        np.maximum.at(of_pair, self.topology.pair_of_link, np.array(length, np.float64))
        for pair in np.argsort(of_pair, kind="stable").tolist():
            share = float(of_pair[pair]) / most if most else 0.0
            hint = f"{int(self.topology.pair_src[pair])} > {int(self.topology.pair_dst[pair])}: length {int(of_pair[pair])}"
            self.ground.channel(pair, shade(share) if share else QUIET, 1.0 + 2.4 * share, hint=hint)
        self.ground.nodes()
        return f"lengths of the links: {least} (grey, thin) to {most} (dark, thick)"

    def _labels(self) -> str:
        """Data of the nodes "from" pass a cut through network and time on their route to those of "to": a label for each node."""
        ends = {"from": list(self.witness["from"]), "to": list(self.witness["to"])}
        label = [int(cycle) for cycle in self.witness["label"]]
        most = max(label)
        self.ground.channels()
        for node in range(len(self.topology.kind)):
            ring = WRONG if node in ends["to"] else INK if node in ends["from"] else ""
            fill = shade(max(label[node], 0) / most) if most else ""
            self.ground.node(node, fill=fill, ring=ring, hint=f"{self.ground.name(node)}: cycle {label[node]:,}")
        names = {side: ", ".join(map(str, nodes[:8])) + (" …" if len(nodes) > 8 else "") for side, nodes in ends.items()}
        return (
            f"data of {names['from']} (black ring) for {names['to']} (red ring); shade: the cycle from which a flit is late at "
            f"a node, up to {most:,} (dark)"
        )

    def _receptions(self) -> str:
        """Contributions of the nodes "from" on their way to the node "to"."""
        sources, sink = set(self.witness["from"]), self.witness["to"]
        for pair, head in enumerate(self.topology.pair_dst.tolist()):
            self.ground.channel(pair, CUT if head == sink else QUIET, 1.8 if head == sink else 1.0, head=head == sink)
        for node in range(len(self.topology.kind)):
            self.ground.node(node, ring=WRONG if node == sink else INK if node in sources else "")
        return f"contributions of {len(sources)} nodes (black rings) for node {sink} (red ring), through the red channels"

    def _copies(self) -> str:
        """Copies from endpoints to the nodes "to"."""
        sinks, late = set(self.witness["to"]), int(self.witness["late"])
        sends = self.topology.kind == NodeKind.ENDPOINT
        for pair, tail in enumerate(self.topology.pair_src.tolist()):
            self.ground.channel(pair, CUT if sends[tail] else QUIET, 1.8 if sends[tail] else 1.0, head=bool(sends[tail]))
        for node in range(len(self.topology.kind)):
            self.ground.node(node, ring=WRONG if node in sinks else "")
        return f"copies for {len(sinks)} nodes (red rings), through the red channels, of what leaves the root {late:,} cycles late"

    def _distance(self) -> str:
        start, end = int(self.witness["from"]), int(self.witness["to"])
        self.ground.channels()
        far = self.topology.distances(start)
        back = self.topology.distances(end, backward=True)
        hops = far[end]
        pairs = zip(self.topology.pair_src.tolist(), self.topology.pair_dst.tolist(), strict=True)
        on_path = [pair for pair, (a, b) in enumerate(pairs) if far[a] >= 0 and back[b] >= 0 and far[a] + 1 + back[b] == hops]
        for pair in on_path:
            self.ground.channel(pair, CUT, 2.2)
        for node in range(len(self.topology.kind)):
            ends = node in (start, end)
            inside = far[node] >= 0 and back[node] >= 0 and far[node] + back[node] == hops
            self.ground.node(node, fill=shade(far[node] / max(1, hops)) if inside else "", ring=WRONG if ends else "")
        return f"ringed: nodes {start} and {end}; every shortest path between them has {hops} hops; darker: more hops from {start}"
