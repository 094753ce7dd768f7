"""The formula of collectives that spread data: all-gather, broadcast, scatter, gather, all-to-all, and reversed reduce kinds.

holds[c, v, t]   cell v holds chunk c when step t begins (t = steps: at the end)
send[c, a, t]    chunk c goes over arc a in step t
"""

from collections import Counter
from collections.abc import Sequence

from certree.models.schedule.schedule import Schedule
from certree.verify.exact.encoding.encoder import Encoder, true_keys
from certree.verify.exact.rows import Row, remembered_rows, schedule_of, spread_rows


class SpreadEncoder(Encoder):
    """Formula of chunks that start at one cell and are copied until all their targets hold them."""

    def estimate(self) -> int:
        """Estimated number of clauses of holding and sending, and of the counters of loads and memory."""
        question, chunks = self.question, len(self.chunks)
        steady = chunks * question.steps * (len(question.cells) + len(question.arcs))
        loaded = sum(len(arc.pairs) for arc in question.arcs)
        pairs = len(question.topology.pair_capacity)
        return steady + self._room_clauses() + pairs * question.steps * self.load_clauses(chunks * -(-loaded // pairs))

    def _room_clauses(self) -> int:
        """Estimated number of clauses of `_memory`."""
        question, demands = self.question, len(self.question.demands)
        passing = Counter(cell for number in range(demands) for cell in question.passing(number))
        limits = [
            (most, of) for cell in question.cells for most, of in ((question.memory, demands), (question.scratch, passing[cell]))
        ]
        counted = [(most + 1, of * question.chunks) for most, of in limits if most is not None]
        return (question.steps + 1) * sum(2 * chunks * min(most, chunks) for most, chunks in counted)

    def build(self) -> None:
        """Add every clause."""
        question, formula = self.question, self.formula
        chunks, arcs = self.chunks, range(len(question.arcs))
        self.holds = formula.family(
            "holds", "cell v holds chunk c when step t begins [c, v, t]", chunks, question.cells, range(question.steps + 1)
        )
        self.send = formula.family("send", "chunk c goes over arc a in step t [c, a, t]", chunks, arcs, self.times)
        self._start_and_end()
        self._causality()
        self._contention()
        self._memory()

    def _start_and_end(self) -> None:
        """At the start only its source holds a chunk; at the end all its targets do."""
        for chunk in self.chunks:
            demand = self.question.demands[self.question.sources[chunk]]
            for cell in self.question.cells:
                begin = self.holds[chunk, cell, 0]
                self.formula.add(begin if cell == demand.source else -begin)
            for target in demand.targets:
                self.formula.add(self.holds[chunk, target, self.question.steps])

    def _causality(self) -> None:
        """A cell that sends a chunk holds it; a cell that holds a chunk held it one step earlier or has just received it."""
        for (chunk, arc, step), sent in self.send.items():
            self.formula.add(-sent, self.holds[chunk, self.question.arcs[arc].src, step])
        self.into = {
            cell: [number for number, arc in enumerate(self.question.arcs) if arc.dst == cell] for cell in self.question.cells
        }
        for (chunk, cell, step), held in self.holds.items():
            if step > 0:
                arrived = [self.send[chunk, arc, step - 1] for arc in self.into[cell]]
                self.formula.add(-held, self.holds[chunk, cell, step - 1], *arrived)

    def _contention(self) -> None:
        """Every pair of nodes carries all transfers over its arcs."""
        self.add_loads({(pair, step): self.users(pair, step) for pair in self.pairs for step in self.times})

    def _memory(self) -> None:
        """A cell holds at most as many chunks at a time as its memory allows; chunks that it no longer holds are lost to it."""
        question = self.question
        passing = [set(question.passing(number)) for number in range(len(question.demands))]
        for cell in question.cells:
            self._limit(cell, self.chunks, question.memory)
            self._limit(cell, [chunk for chunk in self.chunks if cell in passing[question.sources[chunk]]], question.scratch)

    def _limit(self, cell: int, chunks: Sequence[int], most: int | None) -> None:
        """A cell never holds more than `most` of these chunks; no limit if that is None."""
        if most is None:
            return
        for step in range(self.question.steps + 1):
            counted = self.formula.count([self.holds[chunk, cell, step] for chunk in chunks], most + 1)
            if len(counted) > most:
                self.formula.add(-counted[most])

    def users(self, pair: int, step: int) -> list[int]:
        """The transfers that would load a pair in a step."""
        through = [number for number, arc in enumerate(self.question.arcs) if pair in arc.pairs]
        return [self.send[chunk, arc, step] for chunk in self.chunks for arc in through]

    @property
    def chunks(self) -> Sequence[int]:
        """The chunks with variables: all."""
        return range(self.question.spread_chunks)

    @property
    def pairs(self) -> Sequence[int]:
        """The pairs of neighbours whose load is counted: all."""
        return range(len(self.question.topology.pair_capacity))

    def decode(self, model: Sequence[int]) -> Schedule:
        """The sends that matter, as copies (or reversed, as reduces)."""
        true = frozenset(model)
        return schedule_of(self.question, self.rows(true), self.lengths(true))

    def rows(self, true: frozenset[int]) -> list[Row]:
        """The sends that matter, in the direction of the spreading."""
        sends = [(chunk, arc, step) for chunk, arc, step in true_keys(self.send, true)]
        if self.question.is_limited:
            return remembered_rows(self.question, sends, frozenset(true_keys(self.holds, true)))
        return spread_rows(self.question, sends)
