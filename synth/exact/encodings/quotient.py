"""Schedules that a group of symmetries maps to themselves: one unknown chunk for each orbit of chunks."""

from collections.abc import Sequence

from certree.models.common.errors import UnsupportedError
from certree.models.schedule.collective import CollectiveKind
from certree.synth.symmetric.symmetry import Group
from certree.verify.exact.arcs import Arc
from certree.verify.exact.encoding.encoder import true_keys
from certree.verify.exact.encoding.spread import SpreadEncoder
from certree.verify.exact.question import Demand, Question
from certree.verify.exact.rows import Row, spread_rows

KINDS = (CollectiveKind.ALL_GATHER, CollectiveKind.REDUCE_SCATTER, CollectiveKind.ALL_TO_ALL)


class QuotientEncoder(SpreadEncoder):
    """The trusted formula, cut down to the chunks of one source for each orbit; the others move as their images do.

    A pair of nodes is loaded by the images of these chunks as well: chunk c over arc a, moved by g, goes over g(a). Orbits of pairs
    have equal loads, so one pair of each is counted. A model is a schedule; no model proves nothing.
    """

    def __init__(self, question: Question, group: Group) -> None:
        if question.collective.kind not in KINDS:
            raise UnsupportedError(f"symmetric schedules of {question.collective.kind} are not searched")
        number = {arc: index for index, arc in enumerate(question.arcs)}
        pair_at = {ends: pair for pair, ends in enumerate(zip(*_ends(question), strict=True))}
        tails, heads = _ends(question)
        self._pair_images = [
            [pair_at[one[tail], one[head]] for tail, head in zip(tails, heads, strict=True)] for one in group.elements
        ]
        self._arc_images = [
            [number[Arc(one[arc.src], one[arc.dst], tuple(pairs[pair] for pair in arc.pairs))] for arc in question.arcs]
            for one, pairs in zip(group.elements, self._pair_images, strict=True)
        ]
        index = {demand: number for number, demand in enumerate(question.demands)}
        self._demand_images = [
            [index[Demand(one[demand.source], tuple(sorted(one[node] for node in demand.targets)))] for demand in question.demands]
            for one in group.elements
        ]
        first_demands = sorted({min(images) for images in zip(*self._demand_images, strict=True)})
        self._chunks = [chunk for chunk, demand in enumerate(question.sources) if demand in first_demands]
        self._pairs = sorted({min(images) for images in zip(*self._pair_images, strict=True)})
        super().__init__(question)

    @property
    def chunks(self) -> Sequence[int]:
        """The chunks of the first source of each orbit."""
        return self._chunks

    @property
    def pairs(self) -> Sequence[int]:
        """The first pair of each orbit."""
        return self._pairs

    def users(self, pair: int, step: int) -> list[int]:
        """The transfers of the chunks that have variables whose images load the pair; once for each such image."""
        arcs = self.question.arcs
        through = [number for images in self._arc_images for number, image in enumerate(images) if pair in arcs[image].pairs]
        return [self.send[chunk, arc, step] for chunk in self._chunks for arc in through]

    def rows(self, true: frozenset[int]) -> list[Row]:
        """The sends that matter, and all their images."""
        own = spread_rows(self.question, [(chunk, arc, step) for chunk, arc, step in true_keys(self.send, true)])
        each = self.question.chunks
        return [
            (op, demands[chunk // each] * each + chunk % each, arcs[arc], step)
            for demands, arcs in zip(self._demand_images, self._arc_images, strict=True)
            for op, chunk, arc, step in own
        ]


def _ends(question: Question) -> tuple[list[int], list[int]]:
    topology = question.topology
    return topology.pair_src.tolist(), topology.pair_dst.tolist()
