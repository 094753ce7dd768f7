"""`certree fit` (study): GenModel parameters from measured times."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import click

import certree.api as ct
from certree.api.reports.text import one_line
from certree.cli.words.parameters import PICTURES, Parsed, check_output, option_json, option_output
from certree.cli.words.table import say_table
from certree.cli.words.terminal import emit, next_step, note, say
from certree.extras.costs.model.fitting.fit import COMBINED, DELTA, Fit
from certree.extras.costs.model.fitting.measurements import read_measurements, unsteadiness
from certree.extras.costs.run.fitting import fit, save_parameters
from certree.models.common.errors import InputError
from certree.models.common.quantities import parse_bandwidth

POOR = 0.2  # root mean square of the residuals from which a note is printed
BANDWIDTH: Parsed[Fraction] = Parsed("bandwidth", lambda text: parse_bandwidth(text, "--bandwidth"))


@click.command("fit")
@click.argument("path", metavar="MEASUREMENTS.csv", type=click.Path(path_type=Path))
@click.option(
    "--confidence", type=click.FloatRange(0.5, 0.9999), default=0.95, show_default=True, help="Confidence level of the intervals."
)
@click.option("--no-incast", is_flag=True, help="Set epsilon to 0, for hosts that show no incast.")
@click.option("--least", is_flag=True, help="Use the minimum of repeated runs instead of the median (for noisy machines).")
@click.option(
    "--bandwidth",
    type=BANDWIDTH,
    help="Bandwidth of a link, such as 10Gb/s: splits 2 beta + gamma where nothing else was measured.",
)
@click.option("--name", default="fitted", show_default=True, help="Name of the parameters.")
@click.option("--plot", type=click.Path(path_type=Path), help="Where to write a plot, F.svg or F.png.")
@option_output("the GenModel parameters (F.toml), for `cost --params` and the option `model` of method gentree")
@option_json()
def fit_command(
    path: Path,
    confidence: float,
    no_incast: bool,
    least: bool,
    bandwidth: Fraction | None,
    name: str,
    plot: Path | None,
    output: Path | None,
    force: bool,
    as_json: bool,
) -> None:
    """Fit GenModel's alpha, 2 beta + gamma, delta, epsilon and w_t to timings of co-located PS.

    The columns are benchmark,participants,floats,seconds; `certree measure` writes such a file. The median of repeated runs
    is used. A column link (middle, root, cross) names the kind of link that an exchange fills; each kind gets its own alpha,
    beta, epsilon and w_t.
    Exit code 2, naming the parameters, when the data do not determine them.
    """
    if output is not None and output.suffix.lower() != ".toml":
        raise InputError(f"{output}: the name must end in .toml")
    check_output(output, force=force)
    check_output(plot, force=force, suffixes=PICTURES, what="a picture")
    measurements = read_measurements(path)
    found = fit(measurements, confidence=confidence, incast=not no_incast, least=least)
    differ = unsteadiness(measurements)
    if differ is not None and not least:
        note(f"{differ}: see the intervals, fit with --least, or measure again")
    if output is not None:
        save_parameters(found, output, name=name, bandwidth=bandwidth, force=force)
        note(f"wrote {output}")
    if plot is not None:
        ct.draw(found, plot, title=one_line(path.name), force=force)
        note(f"wrote {plot}")
    if as_json:
        emit(_document(found))
        return
    _say(found)
    if output is not None:
        next_step("cost", "sym384", "--params", output)


def _document(found: Fit) -> dict[str, Any]:
    links = {link: _fitted(far) for link, far in found.links.items()}
    return {"confidence": found.confidence, **_fitted(found), "links": links}


def _fitted(found: Fit) -> dict[str, Any]:
    """Parameters and points of one kind of links."""
    return {
        "parameters": {
            name: {"value": one.value, "low": one.low, "high": one.high} for name, one in found.estimates.items()
        },
        "threshold": None if found.threshold is None else dict(zip(("value", "low", "high"), found.threshold, strict=True)),
        "points": [
            {
                "benchmark": point.benchmark,
                "participants": point.participants,
                "floats": point.floats,
                "seconds": point.seconds,
                "fitted": time,
                "residual": residual,
            }
            for point, time, residual in zip(found.points, found.fitted, found.residuals, strict=True)
        ],
    }  # fmt: skip


def _rows(found: Fit) -> list[list[str]]:
    """The rows of a fit's parameters."""
    rows = [
        [name, f"{one.value:.4g}", f"{one.low:.3g}", f"{one.high:.3g}", "s per step" if name == "alpha" else "s per float"]
        for name, one in found.estimates.items()
    ]
    if found.threshold is not None:
        rows.append(["w_t", *map(str, found.threshold), "servers"])
    return rows


def _say(found: Fit) -> None:
    rows = _rows(found) + [[f"{link}, {row[0]}", *row[1:]] for link, far in found.links.items() for row in _rows(far)]
    say_table(["parameter", ">value", f">{100 * found.confidence:g} %: from", ">to", "unit"], rows)
    for link, one in {"": found, **found.links}.items():
        _say_residuals(one, f"{link}: " if link else "")


def _say_residuals(found: Fit, where: str) -> None:
    """How far the times are from the fit; intervals that contain 0."""
    residuals = found.residuals
    rms = (sum(residual**2 for residual in residuals) / len(residuals)) ** 0.5
    worst = max(range(len(residuals)), key=lambda index: abs(residuals[index]))
    point = found.points[worst]
    say(
        f"{where}{len(residuals)} configurations; residuals {100 * rms:.2g} % (root mean square), at most"
        f" {100 * residuals[worst]:+.2g} %"
        f" ({point.benchmark}, {point.participants} participants, {point.floats} floats)"
    )
    if rms >= POOR:
        note(f"{where}residuals of {100 * rms:.2g} %: these times do not follow the model well with any parameters")
    for name, one in found.estimates.items():
        if one.low <= 0 and name in (COMBINED, DELTA, "alpha", "beta", "gamma"):
            note(f"{where}{name}: the interval contains 0")
