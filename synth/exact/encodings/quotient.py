"""Schedules that a group of symmetries maps to themselves: one unknown chunk for each orbit of chunks."""

from collections.abc import Mapping, Sequence

from certree.models.common.errors import UnsupportedError
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.synth.symmetric.symmetry import Group
from certree.verify.exact.arcs import Arc
from certree.verify.exact.encoding.encoder import true_keys
from certree.verify.exact.encoding.spread import SpreadEncoder
from certree.verify.exact.encoding.sums import SumEncoder
from certree.verify.exact.question import Demand, Question
from certree.verify.exact.rows import Row, schedule_of, spread_rows

KINDS = (CollectiveKind.ALL_GATHER, CollectiveKind.REDUCE_SCATTER, CollectiveKind.ALL_TO_ALL)


class QuotientEncoder(SpreadEncoder):
    """The trusted formula, reduced to the chunks of one source per orbit; all other chunks move as images of these.

    A pair of nodes is loaded by the images of these chunks as well: chunk c over arc a, moved by g, goes over g(a). Orbits of pairs
    have equal loads, so one pair of each is counted. A model is a schedule; no model proves nothing.
    """

    def __init__(self, question: Question, group: Group) -> None:
        if question.collective.kind not in KINDS:
            raise UnsupportedError(f"symmetric schedules of {question.collective.kind} are not searched")
        self._pair_images, self._arc_images = _images(question, group)
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


class SumQuotientEncoder(SumEncoder):
    """The trusted formula of an all-reduce, reduced to its first chunks; each represents as many chunks as the group has elements.

    An image of a chunk that reaches the sum everywhere does so as well, so that the images matter only for the loads of links. A
    model is a schedule; no model proves nothing.
    """

    def __init__(self, question: Question, group: Group) -> None:
        if not covers_sums(question, group):
            raise UnsupportedError(f"{question.chunks} chunks are no orbits of {group.order}, or lie in slots")
        self._whole = question
        self._pair_images, self._arc_images = _images(question, group)
        super().__init__(question.at((question.chunks // group.order, question.steps, question.rounds)))

    def add_loads(self, on_pair: Mapping[tuple[int, int], Sequence[int]]) -> None:
        """Limit the loads of the first pair of each orbit: it carries what the chunk has on each of its images."""
        orbits = [sorted(set(images)) for images in zip(*self._pair_images, strict=True)]
        again = len(self._pair_images)
        super().add_loads(
            {
                (pair, step): [literal for image in orbit for literal in on_pair[image, step] for _ in range(again // len(orbit))]
                for pair, orbit in enumerate(orbits)
                if pair == orbit[0]
                for step in self.times
            }
        )

    def decode(self, model: Sequence[int]) -> Schedule:
        """Every transfer of the model, and all their images."""
        each, true = self.question.chunks, frozenset(model)
        rows = [
            (op, image * each + chunk, arcs[arc], step)
            for image, arcs in enumerate(self._arc_images)
            for op, chunk, arc, step in self.rows(true)
        ]
        return schedule_of(self._whole, rows, self.lengths(true))


def covers_sums(question: Question, group: Group) -> bool:
    """Whether the chunks of an all-reduce, without slots, are orbits of the group."""
    return question.is_sum and question.slots is None and question.chunks % group.order == 0


def _images(question: Question, group: Group) -> tuple[list[list[int]], list[list[int]]]:
    """The images of all pairs of neighbours, and of all arcs, under each element of a group."""
    number = {arc: index for index, arc in enumerate(question.arcs)}
    tails, heads = question.topology.pair_src.tolist(), question.topology.pair_dst.tolist()
    pair_at = {ends: pair for pair, ends in enumerate(zip(tails, heads, strict=True))}
    pairs = [[pair_at[one[tail], one[head]] for tail, head in zip(tails, heads, strict=True)] for one in group.elements]
    arcs = [
        [number[Arc(one[arc.src], one[arc.dst], tuple(moved[pair] for pair in arc.pairs))] for arc in question.arcs]
        for one, moved in zip(group.elements, pairs, strict=True)
    ]
    return pairs, arcs
