"""Questions as formulas for any back end: the trusted formula, the formula of a share, and that of symmetric schedules.

Budgets are in conflicts.
"""

from functools import cached_property
from typing import Any

import numpy as np

from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.synth.exact.encodings.quotient import KINDS, QuotientEncoder, SumQuotientEncoder
from certree.synth.exact.encodings.solver import Asking
from certree.synth.monitor import Monitor
from certree.synth.solvers.back_end import AUTO, back_end
from certree.synth.solvers.cpsat import Budget, Status
from certree.synth.symmetric.symmetry import Group
from certree.verify.exact.encoding.encode import encode
from certree.verify.exact.encoding.encoder import Encoder
from certree.verify.exact.question import Question
from certree.verify.exact.refutations.refutation import drat_proof
from certree.verify.exact.refutations.share import share_encoder, share_proof


class TrustedClauses(Asking):
    """The trusted formula: its model is a schedule, its refutation comes with a proof."""

    with_proof = True
    encoder: Encoder

    def __init__(self, question: Question, solver: str = AUTO) -> None:
        super().__init__(question)
        self.back_end, self._status = back_end(solver)(), Status.UNKNOWN

    @property
    def ordered(self) -> bool:
        """Whether chunks are put in order. Those of an all-reduce are; with separate start nodes there is less to gain."""
        return self.question.is_sum and self.question.chunks > 1

    def encode(self) -> None:
        """Make the trusted formula, with equivalent chunks in order, and give it to the back end. UnsupportedError where it is too
        large."""
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

    def proof_document(self, text: str) -> dict[str, Any]:
        """The document of a proof of that text."""
        return drat_proof(self.encoder.formula.digest, text, ordered=self.ordered)


class ShareClauses(TrustedClauses):
    """The formula of one chunk with its share of the links out of endpoints. A refutation of it excludes the point; a model of it
    is a schedule of one chunk, not of the point."""

    ordered = False

    @cached_property
    def _pairs(self) -> list[int]:
        """The pairs of neighbours out of endpoints, so that every transfer of an endpoint is counted once."""
        topology = self.question.topology
        return np.flatnonzero(np.isin(topology.pair_src, topology.endpoints)).tolist()

    def formulated(self) -> Encoder:
        """The formula of one chunk."""
        return share_encoder(self.question, self._pairs)

    def proof_document(self, text: str) -> dict[str, Any]:
        """The document of a proof of that text."""
        return share_proof(self._pairs, self.encoder.formula.digest, text)


class SymmetricClauses(TrustedClauses):
    """The formula of schedules that a group maps to themselves: finds such schedules fast, but proves nothing if there is none."""

    kinds = frozenset((*KINDS, CollectiveKind.ALL_REDUCE))
    with_proof = False

    def __init__(self, question: Question, group: Group, solver: str = AUTO) -> None:
        super().__init__(question, solver)
        self._group = group

    def formulated(self) -> Encoder:
        """The formula of one chunk for each orbit."""
        encoder = SumQuotientEncoder if self.question.is_sum else QuotientEncoder
        return encoder(self.question, self._group)
