"""Questions of what spreads as linear constraints over integers, for CP-SAT: loads are sums, rounds are numbers.

Written on its own, beside the trusted formula, so that the two can be compared. Budgets are in CP-SAT's deterministic seconds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from certree.models.collective import CollectiveKind
from certree.models.errors import UnsupportedError
from certree.models.schedule import Schedule
from certree.synth.cpsat import Budget, Status, solve_model
from certree.synth.encodings.asking import Asking
from certree.synth.method import Monitor
from certree.verify.exact.plans import schedule_of, spread_rows
from certree.verify.exact.question import Question

if TYPE_CHECKING:
    pass


class LinearSpread(Asking):
    """Each cell receives a chunk at most once, and comes to hold it then.

    Variables: `send[c, a, t]`, chunk c goes over arc a in step t; `held[v, t]` of each chunk, cell v holds it when step t begins;
    and the rounds of every step.
    """

    kinds = frozenset(CollectiveKind) - {CollectiveKind.ALL_REDUCE}

    @classmethod
    def accepts(cls, question: Question) -> None:
        """UnsupportedError for an all-reduce, and for a limit of memory."""
        super().accepts(question)
        if question.memory is not None:
            raise UnsupportedError("LinearSpread knows no limit of memory")

    def encode(self) -> None:
        """Add every variable and constraint. O(chunks · arcs · steps) time and memory."""
        from ortools.sat.python import cp_model  # noqa: PLC0415

        question, self.problem = self.question, cp_model.CpModel()
        chunks, arcs, times = range(len(question.sources)), range(len(question.arcs)), range(question.steps)
        self._send = {(c, a, t): self.problem.new_bool_var("") for c in chunks for a in arcs for t in times}
        self._rounds = [self.problem.new_int_var(1, question.rounds - question.steps + 1, "") for _ in times]
        self.problem.add(sum(self._rounds) <= question.rounds)
        into = {cell: [number for number in arcs if question.arcs[number].dst == cell] for cell in question.cells}
        for chunk, demand in enumerate(question.demands[number] for number in question.sources):
            held = {(cell, 0): self.problem.new_constant(cell == demand.source) for cell in question.cells}
            for step in times:
                for cell in question.cells:
                    held[cell, step + 1] = self.problem.new_bool_var("")
                    arriving = [self._send[chunk, arc, step] for arc in into[cell]]
                    self.problem.add(held[cell, step + 1] == held[cell, step] + sum(arriving))
                for arc in arcs:
                    self.problem.add_implication(self._send[chunk, arc, step], held[question.arcs[arc].src, step])
            for target in demand.targets:
                self.problem.add(held[target, question.steps] == 1)
        self._loads()

    def _loads(self) -> None:
        """No pair carries more in a step than its capacity times the rounds."""
        question = self.question
        for pair, capacity in enumerate(question.topology.pair_capacity.tolist()):
            through = [number for number, arc in enumerate(question.arcs) if pair in arc.pairs]
            for step, length in enumerate(self._rounds):
                load = [self._send[chunk, arc, step] for chunk in range(len(question.sources)) for arc in through]
                self.problem.add(sum(load) <= capacity * length)

    def solve(self, budget: Budget, monitor: Monitor, most: float) -> Status:
        """Run CP-SAT; one worker, seed 0."""
        self._status, self._solver = solve_model(self.problem, 0, monitor, budget, most)
        return self._status

    def decode(self) -> Schedule:
        """The sends that are 1."""
        if not self._status.has_solution:
            raise RuntimeError("no schedule was found")
        sends = [key for key, variable in self._send.items() if self._solver.boolean_value(variable)]
        rounds = [int(self._solver.value(length)) for length in self._rounds]
        return schedule_of(self.question, spread_rows(self.question, sends), rounds)
