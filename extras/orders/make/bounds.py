"""The best placings of an order, of those that may be chosen, and the bound that their program proves."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from certree.extras.orders.make.columns import Pricing
from certree.extras.orders.make.orders import candidates, wanted_order
from certree.extras.orders.make.rates import Rates, RateSearch
from certree.models.common.errors import UnsupportedError
from certree.models.network.topology import Topology
from certree.models.schedule.collective import Collective
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule
from certree.synth.graphs.lengths import best_rounding
from certree.synth.monitor import Monitor
from certree.verify.bounds.instance import Instance
from certree.verify.bounds.witness import Bound, make_bound
from certree.verify.bounds.witnesses.ordered import is_for_sums_made_once
from certree.verify.certificates.certificate import make_certificate, proved_of_sums
from certree.verify.order.expressions import Expression, read_expression
from certree.verify.order.wanted import WantedOrder

MOST_ENDPOINTS = 128
_NEAR, _STEPS = 1.005, 1200  # of a program: when it ends
_FINE_NEAR, _FINE_STEPS = 1.02, 240  # where slots are fine, and the time says how good a schedule is
_LOOK = 120  # steps of each program that are compared where certree chooses the order


def best_rates(
    wanted: WantedOrder, topology: Topology, collective: Collective, monitor: Monitor, near: float = _NEAR, most: int = _STEPS
) -> tuple[Pricing, Rates]:
    """The program of the order, or of the best of those that it may be: within `near` times its bound, or after `most` steps.
    UnsupportedError for more than MOST_ENDPOINTS members."""
    members = collective.members_of(topology)
    if len(members) > MOST_ENDPOINTS:
        raise UnsupportedError(f"order {wanted.name}: programs are for up to {MOST_ENDPOINTS} endpoints; here are {len(members)}")
    shares = shares_of(topology, collective)
    pricings = [Pricing(topology, collective, one) for one in candidates(wanted, topology, collective)]
    searches = [RateSearch(one, shares, near, monitor) for one in pricings]
    looks = [one.rates(_LOOK) for one in searches] if len(searches) > 1 else []
    best = searches[min(range(len(searches)), key=lambda one: looks[one].bound + looks[one].value if looks else 0)]
    return best.pricing, best.rates(most)


def shares_of(topology: Topology, collective: Collective) -> dict[int, Fraction]:
    """The part of the message of each root; empty where a sum may be made anywhere."""
    if collective.gathers:
        return {}
    if collective.root is not None:
        return {collective.root: Fraction(1)}
    members = collective.members_of(topology).tolist()
    return {node: Fraction(1, len(members)) for node in members}


def bound_of(instance: Instance, expression: Expression, length: NDArray[np.int64]) -> Bound:
    """The bound that lengths of links, or simpler ones that are close to them, prove for the schedules that add in this order."""
    stated = replace(instance, adds=expression.text)
    found = best_rounding(
        length[: len(instance.topology.src)],
        lambda one: make_bound(stated, "order", {"order": expression.text, "length": one.tolist()}),
    )
    assert found is not None
    return found


def order_bound(order: str, topology: Topology, collective: Collective) -> tuple[str, Bound]:
    """The expression of an order by its name, and its bound."""
    pricing, rates = best_rates(wanted_order(order, topology, collective), topology, collective, Monitor())
    return pricing.expression.text, bound_of(Instance(topology, collective), pricing.expression, rates.length)


def with_order_bound(schedule: AnySchedule, monitor: Monitor) -> AnySchedule:
    """A schedule of one order with the bound of its order in its certificate, where the network is not too large. Without where
    the bound is for schedules that make each sum once, and this one makes some at several nodes."""
    instance = Instance.of(schedule)
    ranks = schedule.collective.ranks_of(schedule.topology)
    if any(bound["kind"] == "order" for bound in proved_of_sums(schedule)) or len(ranks) > MOST_ENDPOINTS or instance.order is None:
        return schedule
    expression = read_expression(instance.order, ranks)
    if is_for_sums_made_once(instance) and not instance.makes_sums_once:
        return schedule
    ends = (_FINE_NEAR, _FINE_STEPS) if schedule.has_fine_slots else (_NEAR, _STEPS)
    _, rates = best_rates(WantedOrder("stated", expression), schedule.topology, schedule.collective, monitor, *ends)
    return schedule.with_certificate(make_certificate(schedule, [bound_of(instance, expression, rates.length)]))
