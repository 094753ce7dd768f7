"""GenModel's parameter file of a fit."""

import json
from fractions import Fraction

from certree.api.reports.text import one_line
from certree.extras.costs.model.fitting.fit import ALPHA, BETA, COMBINED, DELTA, EPSILON, GAMMA, Fit
from certree.extras.costs.model.fitting.measurements import ADDITION, CO_LOCATED_PS, EXCHANGE
from certree.extras.costs.model.formulas.genmodel import FLOAT_BYTES
from certree.models.common.errors import InputError


def parameters_toml(found: Fit, name: str, bytes_per_second: Fraction | None) -> bytes:
    """GenModel's parameter file of a fit, with six digits per number: servers, their links, and what was measured of others.

    All start-up is attributed to links of servers; or where other links were measured half of it to each of the two servers, and to
    those links what an exchange over them takes longer to start. InputError where it starts sooner. Where only 2 beta + gamma is
    known, the bandwidth of a link splits it; InputError where it is missing, not needed, not above 0, or contradicts
    the fit.
    """
    if bytes_per_second is not None and bytes_per_second <= 0:
        raise InputError(f"the bandwidth of a link is {bytes_per_second} bytes per second; allowed: more than 0")
    values = {parameter: estimate.value for parameter, estimate in found.estimates.items()}
    if found.separate and bytes_per_second is not None:
        raise InputError("the bandwidth of a link splits 2 beta + gamma; these measurements already determine both")
    if not found.separate:
        if bytes_per_second is None:
            raise InputError(
                f"{CO_LOCATED_PS} alone determines 2 beta + gamma, {values[COMBINED]:.6g} s per float; give the bandwidth of a link"
                f" (--bandwidth), or measurements of {ADDITION} or {EXCHANGE}, to split it"
            )
        values[BETA] = float(FLOAT_BYTES / bytes_per_second)
        values[GAMMA] = values[COMBINED] - 2 * values[BETA]
        if values[GAMMA] < 0:
            raise InputError(
                f"at that bandwidth 2 beta is {2 * values[BETA]:.6g} s per float, more than 2 beta + gamma, {values[COMBINED]:.6g}"
            )
    start = values[ALPHA] / 2 if found.links else 0.0
    return "\n".join(
        [
            f"# Fitted by certree to {len(found.points)} configurations; intervals of {100 * found.confidence:g} %.",
            *_interval_comments(found),
            *sorted({f"# {point.benchmark}: measured on {one_line(point.device)}" for point in found.points if point.device}),
            *(
                []
                if found.threshold
                else [f"# Without incast; measured with up to {_widest(found)} servers, the threshold is unknown."]
            ),
            'format = "certree-genmodel"',
            "version = 1",
            f"name = {json.dumps(name)}",
            "",
            "[server]",
            f'alpha_seconds = "{start:.6g}"',
            f'gamma_seconds_per_float = "{values[GAMMA]:.6g}"',
            f'delta_seconds_per_float = "{values[DELTA]:.6g}"',
            "",
            *_level_lines("middle", found, values[ALPHA] - 2 * start, values[BETA]),
            *(
                line
                for link, far in found.links.items()
                for line in _level_lines(link, far, _further_start(link, far, found), far.estimates[BETA].value)
            ),
        ]
    ).encode()


def _widest(found: Fit) -> int:
    return max(point.participants for point in found.points if point.benchmark != ADDITION)


def _level_lines(name: str, found: Fit, alpha: float, beta: float) -> list[str]:
    """The table of a kind of links."""
    epsilon = found.estimates[EPSILON].value if EPSILON in found.estimates else 0
    return [
        f"[{name}]",
        f'alpha_seconds = "{alpha:.6g}"',
        f'beta_seconds_per_float = "{beta:.6g}"',
        f'epsilon_seconds_per_float = "{epsilon:.6g}"',
        f"incast_threshold = {_widest(found) if found.threshold is None else found.threshold[0]}",
        "",
    ]


def _further_start(link: str, far: Fit, near: Fit) -> float:
    """The additional start-up time of an exchange over a link of that kind; 0 where the intervals allow that."""
    here, there = near.estimates[ALPHA], far.estimates[ALPHA]
    if there.high < here.low:
        raise InputError(
            f"link {link}: an exchange starts in {there.low:.3g} to {there.high:.3g} s there, sooner than over the links of"
            f" servers, {here.low:.3g} to {here.high:.3g} s"
        )
    return max(there.value - here.value, 0.0)


def _interval_comments(found: Fit) -> list[str]:
    lines = [f"# {name}: {one.value:.6g} ({one.low:.3g} to {one.high:.3g})" for name, one in found.estimates.items()]
    lines += [f"# w_t: {found.threshold[0]} ({found.threshold[1]} to {found.threshold[2]})"] if found.threshold else []
    return lines + [f"# {link}, {line[2:]}" for link, far in found.links.items() for line in _interval_comments(far)]
