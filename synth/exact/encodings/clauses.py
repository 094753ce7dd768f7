"""Questions as formulas for any back end: the trusted one, and the one of symmetric schedules. Budgets are in conflicts."""

from certree.models.schedule.schedule import Schedule
from certree.synth.exact.encodings.quotient import KINDS, QuotientEncoder
from certree.synth.exact.encodings.solver import Asking
from certree.synth.monitor import Monitor
from certree.synth.solvers.back_end import AUTO, back_end
from certree.synth.solvers.cpsat import Budget, Status
from certree.synth.symmetric.symmetry import Group
from certree.verify.exact.encoding.encode import encode
from certree.verify.exact.encoding.encoder import Encoder
from certree.verify.exact.question import Question


class TrustedClauses(Asking):
    """The trusted formula: its model is a schedule, its refutation comes with a proof."""

    with_proof = True
    encoder: Encoder

    def __init__(self, question: Question, solver: str = AUTO) -> None:
        super().__init__(question)
        self.back_end, self._status = back_end(solver)(), Status.UNKNOWN

    @property
    def ordered(self) -> bool:
        """Whether chunks are put in order: those of an all-reduce; where each starts at another node there is less to gain."""
        return self.question.is_sum and self.question.chunks > 1

    def encode(self) -> None:
        """Make the trusted formula, with equivalent chunks in order, and give it to the back end. UnsupportedError where it is
        too large for that."""
        self.encoder = self.formulated()
        self.back_end.accepts(self.encoder.formula)
        self.back_end.encode(self.encoder.formula, with_proof=self.with_proof)

    def formulated(self) -> Encoder:
        """The formula."""
        return encode(self.question, ordered=self.ordered)

    def solve(self, budget: Budget, monitor: Monitor, most: float) -> Status:
        """Ask the back end within `most` conflicts."""
        self._status = self.back_end.solve(budget, monitor, int(most))
        self.proof = self.back_end.proof
        return self._status

    def decode(self) -> Schedule:
        """The schedule of the model."""
        if self._status is not Status.FEASIBLE:
            raise RuntimeError("no schedule was found")
        return self.encoder.decode(self.back_end.decode())


class SymmetricClauses(TrustedClauses):
    """The formula of schedules that a group maps to themselves: finds such schedules fast, but proves nothing if there is none."""

    kinds = frozenset(KINDS)
    with_proof = False

    def __init__(self, question: Question, group: Group, solver: str = AUTO) -> None:
        super().__init__(question, solver)
        self._group = group

    def formulated(self) -> Encoder:
        """The formula of one chunk for each orbit."""
        return QuotientEncoder(self.question, self._group)
