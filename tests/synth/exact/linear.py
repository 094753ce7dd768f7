"""Questions of what spreads as linear constraints over integers, for CP-SAT: loads are sums, rounds are numbers.

Written independently of the trusted formula, so that the two can be compared. Budgets are in CP-SAT's deterministic seconds.
"""

from typing import Any

from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.synth.exact.encodings.solver import Asking
from certree.synth.monitor import Monitor
from certree.synth.solvers.cpsat import Budget, Status, solve_model
from certree.verify.exact.rows import remembered_rows, schedule_of, spread_rows


class LinearSpread(Asking):
    """Each cell receives a chunk at most once, and comes to hold it then; where room is limited it may forget it, and get it again.

    Variables: `send[c, a, t]`, chunk c goes over arc a in step t; `held[c, v, t]`, cell v holds it when step t begins; and the
    rounds of every step.
    """

    kinds = frozenset(CollectiveKind) - {CollectiveKind.ALL_REDUCE}

    def encode(self) -> None:
        """Add every variable and constraint. O(chunks · arcs · steps) time and memory."""
        from ortools.sat.python import cp_model

        question, self.problem = self.question, cp_model.CpModel()
        chunks, arcs, times = range(len(question.sources)), range(len(question.arcs)), range(question.steps)
        self._send = {(c, a, t): self.problem.new_bool_var("") for c in chunks for a in arcs for t in times}
        self._rounds = [self.problem.new_int_var(1, question.rounds - question.steps + 1, "") for _ in times]
        self.problem.add(sum(self._rounds) <= question.rounds)
        into = {cell: [number for number in arcs if question.arcs[number].dst == cell] for cell in question.cells}
        self._held = held = dict[tuple[int, int, int], Any]()
        for chunk, demand in enumerate(question.demands[number] for number in question.sources):
            held.update({(chunk, cell, 0): self.problem.new_constant(cell == demand.source) for cell in question.cells})
            for step in times:
                for cell in question.cells:
                    held[chunk, cell, step + 1] = after = self.problem.new_bool_var("")
                    there = held[chunk, cell, step] + sum(self._send[chunk, arc, step] for arc in into[cell])
                    self.problem.add(after <= there if question.is_limited else after == there)
                for arc in arcs:
                    self.problem.add_implication(self._send[chunk, arc, step], held[chunk, question.arcs[arc].src, step])
            for target in demand.targets:
                self.problem.add(held[chunk, target, question.steps] == 1)
        self._loads()
        self._room()

    def _room(self) -> None:
        """No cell holds more chunks than it has memory for, nor more in passing than it has scratch for."""
        question = self.question
        for cell in question.cells:
            for step in range(question.steps + 1):
                stored = [self._held[chunk, cell, step] for chunk in range(len(question.sources))]
                if question.memory is not None:
                    self.problem.add(sum(stored) <= question.memory)
                if question.scratch is not None:
                    passing = [cell in question.passing(number) for number in question.sources]
                    self.problem.add(sum(held for held, passes in zip(stored, passing, strict=True) if passes) <= question.scratch)

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
        if not self.question.is_limited:
            return schedule_of(self.question, spread_rows(self.question, sends), rounds)
        held = {key for key, variable in self._held.items() if self._solver.boolean_value(variable)}
        return schedule_of(self.question, remembered_rows(self.question, sends, held), rounds)
