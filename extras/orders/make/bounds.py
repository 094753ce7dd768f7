"""The bound of an order by lengths of links."""

from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from certree.synth.graphs.lengths import roundings
from certree.verify.bounds.instance import Instance
from certree.verify.bounds.witness import Bound, WitnessError, make_bound
from certree.verify.order.expressions import Expression


def order_bound(instance: Instance, expression: Expression, length: NDArray[np.int64]) -> Bound:
    """The bound that lengths, or simpler ones that are close to them, prove for the schedules that add in this order. WitnessError
    where none proves anything."""
    stated, found = replace(instance, adds=expression.text), []
    for lengths in roundings(length):
        with suppress(WitnessError):
            found.append(make_bound(stated, "order", {"order": expression.text, "length": lengths.tolist()}))
    return max(found, key=lambda bound: Fraction(bound["value"]))
