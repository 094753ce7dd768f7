"""Table 2 of GenTree in closed form, where no cost model needs it."""

from fractions import Fraction

from certree.extras.costs.model.profile import Profile


def reduce_broadcast_profile(nodes: int) -> Profile:
    """One parameter server among the N. Only it receives from many: Table 2 counts the incast of the broadcast, which has one
    sender, as well."""
    whole = Fraction(nodes - 1)
    return Profile(2, 2 * whole, whole, whole + 2, ((nodes, whole),) if nodes > 2 else ())
