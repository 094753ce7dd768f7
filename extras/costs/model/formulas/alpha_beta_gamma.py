"""The (alpha, beta, gamma) model: start-up, bandwidth, computation (Hockney 1994; GenTree, Section 2.2)."""

from dataclasses import dataclass
from fractions import Fraction

from certree.extras.costs.model.cost_model import COST_MODELS, Cost, Term
from certree.extras.costs.model.counting import Counts
from certree.extras.costs.model.profile import Profile


@COST_MODELS.register("alpha-beta-gamma")
@dataclass(frozen=True)
class AlphaBetaGamma:
    """Start-up of a step, a byte over a unit link, an addition for a byte (GenTree, Equation 1).

    Its Table 1 is this model on the closed forms of `profile.py`.
    """

    name: str
    alpha_seconds: Fraction
    beta_seconds_per_byte: Fraction
    gamma_seconds_per_byte: Fraction

    def cost(self, counts: Counts, message_bytes: int) -> Cost:
        """A alpha + B beta + C gamma of what was counted."""
        return self.profile_cost(counts.profile(), message_bytes)

    def profile_cost(self, profile: Profile, message_bytes: int) -> Cost:
        """A alpha + B beta + C gamma of given coefficients."""
        return Cost(
            (
                Term("alpha", "start-up", profile.steps * self.alpha_seconds),
                Term("beta", "links", profile.received * message_bytes * self.beta_seconds_per_byte),
                Term("gamma", "additions", profile.additions * message_bytes * self.gamma_seconds_per_byte),
            )
        )
