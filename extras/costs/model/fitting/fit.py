"""GenModel's parameters from measured times: weighted least squares, intervals, and an error where the data do not determine them.

This is statistics, the one place of the cost models that computes in floating point; results are written as decimals.

The time of a benchmark is linear in alpha, beta, gamma, delta and epsilon once the threshold w_t of incast is known (GenTree,
Equations 5 and 6, Table 2). So the fit minimizes relative errors for every whole w_t, and the best is taken. All w_t whose fit is
not significantly worse stay possible, and intervals cover the estimates of all of them. Co-located PS alone determines beta and
gamma only as 2 beta + gamma, as the paper notes; measured exchanges or additions separate them. Exchanges over other
kinds of links determine alpha, beta, epsilon and w_t of those.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from certree.extras.costs.model.fitting.measurements import ADDITION, CO_LOCATED_PS, LINKS, MIDDLE, Measurement, merged
from certree.extras.costs.model.fitting.students_t import two_sided_quantile
from certree.models.common.errors import InputError

Floats = NDArray[np.float64]
ALPHA, BETA, GAMMA, DELTA, EPSILON = PARAMETERS = ("alpha", "beta", "gamma", "delta", "epsilon")
COMBINED = "2 beta + gamma"
NO_INCAST = 1 << 30  # a threshold that no measurement reaches
ROUNDS = 4  # of weights from fitted times
TIED = 1e-9  # relative: residuals of thresholds that explain the data equally well


@dataclass(frozen=True)
class Estimate:
    """A parameter in seconds, or seconds per float, with its interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Fit:
    """`estimates` by parameter, 2 beta + gamma among them; beta and gamma only where `separate`. `threshold`: w_t, its lowest and
    highest; None in a fit without incast. `points`: what was fitted, one for each configuration; `fitted`: their times by the
    model. `links`: by kind of link, root or cross, the fit of exchanges over it, where such were measured; alpha is the start-up of
    the whole exchange there."""

    estimates: dict[str, Estimate]
    separate: bool
    threshold: tuple[int, int, int] | None
    confidence: float
    points: tuple[Measurement, ...]
    fitted: tuple[float, ...]
    links: Mapping[str, "Fit"] = field(default_factory=dict)

    @property
    def residuals(self) -> list[float]:
        """Measured ÷ fitted time − 1 of each point."""
        return [point.seconds / time - 1 for point, time in zip(self.points, self.fitted, strict=True)]


def fit(measurements: Sequence[Measurement], *, confidence: float = 0.95, incast: bool = True, least: bool = False) -> Fit:
    """Fit GenModel. Without `incast` epsilon is 0, for hosts without incast. Repeated runs of a configuration are represented by
    their median, or with `least` by their minimum.

    InputError names the parameters that the measurements do not determine, and why. O(w · n) for n points of up to w participants.
    """
    points = merged(measurements, least=least)
    of_kind = {link: [point for point in points if point.link == link] for link in LINKS}
    near = of_kind.pop(MIDDLE)
    if points and not near:
        raise InputError(f"only links of the kind {points[0].link} were measured; those to servers ({MIDDLE}) are needed first")
    found = _of_servers(near, confidence, incast=incast)
    links: dict[str, Fit] = {}
    for link, far in of_kind.items():
        try:
            links |= {link: _fit(far, [ALPHA, BETA] + [EPSILON] * incast, confidence)} if far else {}
        except InputError as error:
            raise InputError(f"link {link}: {error}") from None
    return replace(found, links=links)


def _of_servers(points: Sequence[Measurement], confidence: float, *, incast: bool) -> Fit:
    """The fit of servers and their links."""
    if all(point.benchmark == ADDITION for point in points):
        raise InputError(
            f"only {ADDITION} was measured, which determines gamma and delta alone; {CO_LOCATED_PS} is needed for the others"
        )
    return _fit(points, _names(points, incast=incast), confidence)


def _fit(points: Sequence[Measurement], names: Sequence[str], confidence: float) -> Fit:
    """The fit of these parameters, with incast where epsilon is one of them."""
    incast = EPSILON in names
    times = np.array([point.seconds for point in points])
    wide = max((point.participants for point in points if point.benchmark != ADDITION), default=2)
    candidates = list(range(2, wide)) if incast else [NO_INCAST]
    if not candidates:
        raise InputError(f"epsilon, w_t: runs with 3 or more servers are needed (found at most {wide}), or --no-incast")
    designs = [_design(points, names, threshold) for threshold in candidates]
    _require_rank(points, names, designs[0])
    freedom = len(points) - len(names) - incast
    if freedom < 1:
        raise InputError(
            f"{len(points)} configurations for {len(names) + incast} parameters; at least {len(names) + incast + 1} are needed"
        )
    weights = 1 / times
    solutions: list[_Solution] = []
    for _ in range(ROUNDS):
        solutions = [_solve(design, times, weights) for design in designs]
        best = min(range(len(candidates)), key=lambda index: solutions[index].error)
        weights = 1 / np.maximum(designs[best] @ solutions[best].values, times.min() / 2)
    if incast and not solutions[best].values[names.index(EPSILON)]:
        raise InputError(f"epsilon, w_t: no incast is seen with up to {wide} servers; measure more, or fit without incast")
    quantile = two_sided_quantile(confidence, freedom)
    limit = solutions[best].error * (1 + quantile**2 / freedom)
    _require_decided(points, names, candidates, [solution.error for solution in solutions], best)
    possible = [index for index in range(len(candidates)) if solutions[index].error <= limit]
    spread = quantile * np.sqrt(solutions[best].error / freedom)
    estimates = {
        name: _estimate(name, [solutions[index] for index in possible], solutions[best], vector, spread)
        for name, vector in _reported(names)
    }
    if incast and estimates[EPSILON].low <= 0:
        high = f"{estimates[EPSILON].low:.2g} to {estimates[EPSILON].high:.2g}"
        raise InputError(
            f"epsilon, w_t: no incast is seen with up to {wide} servers (epsilon {high}); measure more, or fit without incast"
        )
    reached = [candidates[index] for index in possible]
    if incast and len(reached) > 1 and (min(reached), max(reached)) == (candidates[0], candidates[-1]):
        raise InputError(
            f"epsilon, w_t: any threshold from {min(reached)} to {max(reached)} is possible; measure more numbers of servers"
        )
    threshold = (candidates[best], min(reached), max(reached)) if incast else None
    fitted = designs[best] @ solutions[best].values
    return Fit(estimates, BETA in names, threshold, confidence, tuple(points), tuple(fitted.tolist()))


def _names(points: Sequence[Measurement], *, incast: bool) -> list[str]:
    """The parameters of the fit: 2 beta + gamma instead of both where only co-located PS was measured."""
    if all(point.benchmark == CO_LOCATED_PS for point in points):
        return [ALPHA, COMBINED, DELTA] + [EPSILON] * incast
    return [ALPHA, BETA, GAMMA, DELTA] + [EPSILON] * incast


def _design(points: Sequence[Measurement], names: Sequence[str], threshold: int) -> Floats:
    """The coefficient of every parameter in the time of every point, shape (points, parameters)."""
    rows = []
    for point in points:
        n, floats = point.participants, float(point.floats)
        beyond = max(n - threshold, 0)
        if point.benchmark == CO_LOCATED_PS:
            share = (n - 1) / n * floats
            row = {
                ALPHA: 2,
                BETA: 2 * share,
                GAMMA: share,
                COMBINED: share,
                DELTA: (n + 1) / n * floats,
                EPSILON: 2 * share * beyond,
            }
        elif point.benchmark == ADDITION:
            row = {GAMMA: (n - 1) * floats, DELTA: (n + 1) * floats}
        else:
            row = {ALPHA: 1, BETA: floats, EPSILON: beyond * floats}
        rows.append([float(row.get(name, 0)) for name in names])
    return np.array(rows)


@dataclass(frozen=True)
class _Solution:
    """`values` from 0 on and their weighted squared `error`; `free`: without that restriction, covariance `spread` · sigma^2."""

    values: Floats
    error: float
    free: Floats
    spread: Floats


def _solve(design: Floats, times: Floats, weights: Floats) -> _Solution:
    scale = np.linalg.norm(design * weights[:, None], axis=0)
    matrix, target = design * weights[:, None] / scale, times * weights
    free = np.linalg.lstsq(matrix, target)[0]
    values, error = free, float(np.sum((matrix @ free - target) ** 2))
    if (free < 0).any():
        values, error = _nonnegative(matrix, target)
    spread = np.linalg.pinv(matrix.T @ matrix) / np.outer(scale, scale)
    return _Solution(values / scale, error, free / scale, spread)


def _nonnegative(matrix: Floats, target: Floats) -> tuple[Floats, float]:
    """The best solution without negative entries, over all sets of columns with non-zero values."""
    columns = range(matrix.shape[1])
    for count in reversed(columns):
        for chosen in combinations(columns, count):
            values = np.zeros(len(columns))
            values[list(chosen)] = np.linalg.lstsq(matrix[:, chosen], target)[0]
            left = target - matrix @ values
            slope = matrix.T @ left  # the columns have unit length
            if (values >= 0).all() and (slope <= 1e-12 * np.linalg.norm(target)).all():
                return values, float(left @ left)
    raise AssertionError("one choice of columns is the best")


def _reported(names: Sequence[str]) -> list[tuple[str, Floats]]:
    """The estimated quantities as sums of the fitted parameters: each of them, and 2 beta + gamma."""
    reported = [(name, np.eye(len(names))[index]) for index, name in enumerate(names)]
    if GAMMA in names:
        reported.append((COMBINED, 2 * reported[1][1] + reported[2][1]))
    return reported


def _estimate(name: str, possible: Sequence[_Solution], best: _Solution, vector: Floats, spread: float) -> Estimate:
    """The value of the best fit and the interval that covers those of all possible ones."""
    value = float(vector @ best.values)
    middles = [float(vector @ one.free) for one in possible]
    halves = [float(spread * np.sqrt(vector @ one.spread @ vector)) for one in possible]
    lows = [middle - half for middle, half in zip(middles, halves, strict=True)]
    highs = [middle + half for middle, half in zip(middles, halves, strict=True)]
    low, high = min(lows), max(highs)
    if high < 0:
        raise InputError(f"{name} would be negative, {low:.3g} to {high:.3g}: the times do not follow the model")
    return Estimate(value, min(max(low, 0.0), value), max(high, value))


def _require_rank(points: Sequence[Measurement], names: Sequence[str], design: Floats) -> None:
    """Raise InputError where the parameters other than epsilon cannot be separated with any threshold."""
    columns = [number for number, name in enumerate(names) if name != EPSILON]
    matrix = design[:, columns]
    norms = np.linalg.norm(matrix, axis=0)
    absent = [names[number] for number, norm in zip(columns, norms, strict=True) if norm == 0]
    if absent:
        raise InputError(f"{', '.join(absent)}: nothing was measured that depends on it; {_advice(points)}")
    _, singular, rows = np.linalg.svd(matrix / norms)
    if singular[-1] > 1e-9 * singular[0] and len(points) >= len(columns):
        return
    involved = [names[number] for number, part in zip(columns, rows[-1], strict=True) if abs(part) > 1e-6]
    raise InputError(f"{', '.join(involved)}: cannot be separated; {_advice(points)}")


def _advice(points: Sequence[Measurement]) -> str:
    """Advice on further measurements."""
    servers = [point for point in points if point.benchmark == CO_LOCATED_PS or point.link != MIDDLE]
    if not servers:
        return "co-located-ps was not measured"
    benchmark, numbers, sizes = servers[0].benchmark, {point.participants for point in servers}, {point.floats for point in servers}
    if len(numbers) < 2:
        return f"{benchmark} was measured with {numbers.pop()} servers only; other numbers of servers are needed"
    if len(sizes) < 2:
        return f"{benchmark} was measured with {sizes.pop()} floats only; vectors of other sizes are needed"
    return "more numbers of servers and sizes are needed"


def _require_decided(
    points: Sequence[Measurement], names: Sequence[str], candidates: Sequence[int], errors: Sequence[float], best: int
) -> None:
    """Raise InputError where several thresholds explain the data equally well."""
    if EPSILON not in names:
        return
    alike = [
        threshold
        for threshold, error in zip(candidates, errors, strict=True)
        if error <= errors[best] * (1 + TIED) + len(points) * 1e-24
    ]
    if len(alike) == 1:
        return
    numbers = sorted({point.participants for point in points if point.benchmark != ADDITION})
    raise InputError(
        f"epsilon, w_t: thresholds {min(alike)} to {max(alike)} explain the times equally well, with servers"
        f" {', '.join(map(str, numbers))}; measure more numbers of servers around the threshold, or fit without incast"
    )
