"""The formula of a direct all-reduce, on the machine with one accumulator per cell and chunk.

has[c, v, i, t]     cell v has the contribution of endpoint i to chunk c when step t begins
reduce[c, a, t]     arc a carries chunk c in step t, to be added
copy[c, a, t]       arc a carries chunk c in step t, to replace
brings[c, a, i, t]  arc a carries chunk c in step t with the contribution of i

and where endpoints have scratch slots, which are cells too (`slots`):

stores[c, v, t]     slot v stores a partial sum of chunk c when step t begins
"""

from collections.abc import Sequence
from itertools import combinations

from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op
from certree.verify.exact.encoding.encoder import Encoder, true_keys
from certree.verify.exact.formula import Family
from certree.verify.exact.rows import Row, schedule_of


class SumEncoder(Encoder):
    """Formula of sets of contributions that are added and copied until all endpoints have all of every chunk."""

    def estimate(self) -> int:
        """Estimated number of clauses of the sets, of the counters, and of the contents of slots."""
        question = self.question
        ends, arcs, cells = len(question.topology.endpoints), len(question.arcs), len(question.cells)
        in_degree = -(-arcs // cells)
        sets = question.chunks * question.steps * ends * (arcs * (6 + in_degree // 2) + 2 * cells)
        pairs = len(question.topology.pair_capacity)
        slots = len(question.slots.ids) if question.slots else 0
        stored = slots * question.steps * question.chunks * (question.chunks // 2 + 5 * in_degree)
        return sets + stored + pairs * question.steps * self.load_clauses(2 * question.chunks * -(-arcs // pairs))

    def build(self) -> None:
        """Add every variable and clause."""
        question, formula = self.question, self.formula
        chunks, arcs = range(question.chunks), range(len(question.arcs))
        self.ends: list[int] = question.topology.endpoints.tolist()
        self.into = {cell: [number for number, arc in enumerate(question.arcs) if arc.dst == cell] for cell in question.cells}
        self.has = formula.family(
            "has",
            "cell v has the contribution of i to chunk c when step t begins [c, v, i, t]",
            chunks,
            question.cells,
            self.ends,
            range(question.steps + 1),
        )
        self.reduce = formula.family("reduce", "arc a carries chunk c in step t, to be added [c, a, t]", chunks, arcs, self.times)
        self.copy = formula.family("copy", "arc a carries chunk c in step t, to replace [c, a, t]", chunks, arcs, self.times)
        self.brings = formula.family(
            "brings", "arc a carries chunk c with the contribution of i in step t [c, a, i, t]", chunks, arcs, self.ends, self.times
        )
        self._start_and_end()
        for chunk in chunks:
            for step in self.times:
                for cell in question.cells:
                    self._writes(chunk, cell, step)
                    self._landing(chunk, cell, step)
                for arc in arcs:
                    self._carrying(chunk, arc, step)
        self._contention()
        self._stores: tuple[Family, ...] = (self._slots(question.slots.ids),) if question.slots else ()

    def _start_and_end(self) -> None:
        """At the start every endpoint has only its own contribution, a switch none; at the end endpoints have all."""
        for (_chunk, cell, of, step), variable in self.has.items():
            if step == 0:
                self.formula.add(variable if cell == of else -variable)
            elif step == self.question.steps and cell in self.ends:
                self.formula.add(variable)

    def _carrying(self, chunk: int, arc: int, step: int) -> None:
        """A transfer adds or replaces, not both; it brings exactly the contents of its source, which are not empty."""
        source, formula = self.question.arcs[arc].src, self.formula
        reduced, copied = self.reduce[chunk, arc, step], self.copy[chunk, arc, step]
        formula.add(-reduced, -copied)
        for of in self.ends:
            brought, held = self.brings[chunk, arc, of, step], self.has[chunk, source, of, step]
            formula.add(-brought, held)
            formula.add(-brought, reduced, copied)
            formula.add(-reduced, -held, brought)
            formula.add(-copied, -held, brought)
        for sent in (reduced, copied):
            formula.add(-sent, *(self.has[chunk, source, of, step] for of in self.ends))

    def _writes(self, chunk: int, cell: int, step: int) -> None:
        """No other transfer enters a cell together with a copy; added contributions occur only once, the cell's own included."""
        formula = self.formula
        for one, other in combinations(self.into[cell], 2):
            formula.add(-self.copy[chunk, one, step], -self.copy[chunk, other, step])
            formula.add(-self.copy[chunk, one, step], -self.reduce[chunk, other, step])
            formula.add(-self.reduce[chunk, one, step], -self.copy[chunk, other, step])
            for of in self.ends:
                formula.add(-self.brings[chunk, one, of, step], -self.brings[chunk, other, of, step])
        for arc in self.into[cell]:
            for of in self.ends:
                formula.add(-self.reduce[chunk, arc, step], -self.brings[chunk, arc, of, step], -self.has[chunk, cell, of, step])

    def _landing(self, chunk: int, cell: int, step: int) -> None:
        """After the step a cell has the contributions brought to it and, unless replaced, those it had before; no others."""
        formula, into = self.formula, self.into[cell]
        copies = [self.copy[chunk, arc, step] for arc in into]
        for of in self.ends:
            before, after = self.has[chunk, cell, of, step], self.has[chunk, cell, of, step + 1]
            brought = [self.brings[chunk, arc, of, step] for arc in into]
            formula.add(-before, after, *copies)
            for arrival in brought:
                formula.add(-arrival, after)
            formula.add(-after, before, *brought)
            for copied, arrival in zip(copies, brought, strict=True):
                formula.add(-copied, -after, arrival)

    @property
    def interchangeable(self) -> Sequence[int]:
        """The numbers of all chunks, which are interchangeable."""
        return range(self.question.chunks)

    @property
    def chunk_families(self) -> tuple[Family, ...]:
        """All families except that of the rounds of steps."""
        return (self.has, self.reduce, self.copy, self.brings, *self._stores)

    def first_transfers(self, chunk: int) -> list[int]:
        """The transfers of the chunk in step 0."""
        return [family[chunk, arc, 0] for arc in range(len(self.question.arcs)) for family in (self.reduce, self.copy)]

    def _slots(self, slots: Sequence[int]) -> Family:
        """A slot stores the data that landed in it, of one chunk at a time; only this can be sent from it or added to."""
        chunks, formula = range(self.question.chunks), self.formula
        stores = formula.family(
            "stores", "slot v stores chunk c when step t begins [c, v, t]", chunks, slots, range(self.question.steps + 1)
        )
        for (chunk, slot, step), stored in stores.items():
            if step == 0:
                formula.add(-stored)
                continue
            copies = [self.copy[chunk, arc, step - 1] for arc in self.into[slot]]
            formula.add(-stored, stores[chunk, slot, step - 1], *copies)
            for arc in self.into[slot]:
                formula.add(-self.copy[chunk, arc, step - 1], stored)
                formula.add(-self.reduce[chunk, arc, step - 1], stored)
                formula.add(-self.reduce[chunk, arc, step - 1], stores[chunk, slot, step - 1])
            for other in range(chunk):
                formula.add(-stored, -stores[other, slot, step])
        for (chunk, number, step), sent in (*self.reduce.items(), *self.copy.items()):
            if (source := self.question.arcs[number].src) in slots:
                formula.add(-sent, stores[chunk, source, step])
        return stores

    def _contention(self) -> None:
        """Every pair of nodes carries all transfers over its arcs."""
        pairs = range(len(self.question.topology.pair_capacity))
        through = [[number for number, arc in enumerate(self.question.arcs) if pair in arc.pairs] for pair in pairs]
        families = (self.reduce, self.copy)
        self.add_loads(
            {
                (pair, step): [
                    family[chunk, arc, step]
                    for chunk in range(self.question.chunks)
                    for arc in through[pair]
                    for family in families
                ]
                for pair in pairs
                for step in self.times
            }
        )

    def decode(self, model: Sequence[int]) -> Schedule:
        """Every transfer of the model."""
        true = frozenset(model)
        return schedule_of(self.question, self.rows(true), self.lengths(true))

    def rows(self, true: frozenset[int]) -> list[Row]:
        """The transfers of the model."""
        rows = [(int(Op.REDUCE), chunk, arc, step) for chunk, arc, step in true_keys(self.reduce, true)]
        return rows + [(int(Op.COPY), chunk, arc, step) for chunk, arc, step in true_keys(self.copy, true)]
