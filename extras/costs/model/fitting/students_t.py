"""Student's t distribution for whole degrees of freedom."""

from math import atan, cos, pi, sin, sqrt


def two_sided_probability(t: float, degrees: int) -> float:
    """The probability of -t to t (Abramowitz and Stegun, 26.7.3 and 26.7.4: finite sums). O(degrees)."""
    angle = atan(t / sqrt(degrees))
    power, term, total = cos(angle) ** 2, 1.0, 0.0
    if degrees % 2:
        term = cos(angle)
        for index in range(1, degrees // 2 + 1):
            total += term
            term *= power * 2 * index / (2 * index + 1)
        return 2 / pi * (angle + sin(angle) * total)
    for index in range(1, degrees // 2 + 1):
        total += term
        term *= power * (2 * index - 1) / (2 * index)
    return sin(angle) * total


def two_sided_quantile(probability: float, degrees: int) -> float:
    """The t whose interval -t to t has this probability, by bisection. `probability`: above 0, below 1."""
    low, high = 0.0, 1.0
    while two_sided_probability(high, degrees) < probability:
        high *= 2
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if two_sided_probability(middle, degrees) < probability else (low, middle)
    return high
