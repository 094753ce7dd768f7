"""Questions as formulas for CaDiCaL: the trusted one, and the one of symmetric schedules. Budgets are in conflicts."""

from certree.models.schedule.schedule import Schedule
from certree.synth.exact.encodings.quotient import KINDS, QuotientEncoder
from certree.synth.exact.encodings.solver import Asking
from certree.synth.monitor import Monitor
from certree.synth.solvers.cadical import solve
from certree.synth.solvers.cpsat import Budget, Status
from certree.synth.symmetric.symmetry import Group
from certree.verify.exact.encoding.encode import encode
from certree.verify.exact.encoding.encoder import Encoder
from certree.verify.exact.question import Question


class TrustedClauses(Asking):
    """The trusted formula: its model is a schedule, its refutation comes with a proof."""

    with_proof = True
    encoder: Encoder

    @property
    def ordered(self) -> bool:
        """Whether chunks are put in order: those of an all-reduce; where each starts at another node there is less to gain."""
        return self.question.is_sum and self.question.chunks > 1

    def encode(self) -> None:
        """Make the trusted formula, with equivalent chunks in order."""
        self.encoder = encode(self.question, ordered=self.ordered)

    def solve(self, budget: Budget, monitor: Monitor, most: float) -> Status:
        """Ask CaDiCaL within `most` conflicts."""
        answer = solve(self.encoder.formula, budget, monitor, int(most), with_proof=self.with_proof)
        self.proof, self._model = answer.proof, answer.model
        return answer.status

    def decode(self) -> Schedule:
        """The schedule of the model."""
        if not self._model:
            raise RuntimeError("no schedule was found")
        return self.encoder.decode(self._model)


class SymmetricClauses(TrustedClauses):
    """The formula of schedules that a group maps to themselves: finds such schedules fast, but proves nothing if there is none."""

    kinds = frozenset(KINDS)
    with_proof = False

    def __init__(self, question: Question, group: Group) -> None:
        super().__init__(question)
        self._group = group

    def encode(self) -> None:
        """Make the formula of one chunk for each orbit."""
        self.encoder = QuotientEncoder(self.question, self._group)
