"""Fitting GenModel's parameters of several kinds of links at once."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

import certree.api as ct
from certree.extras.costs.model.fitting.fit import fit
from certree.extras.costs.model.fitting.measurements import BENCHMARKS, Measurement, measurements_csv, read_measurements
from certree.extras.costs.model.fitting.parameter_file import parameters_toml
from certree.extras.costs.model.formulas.genmodel import GenModel, load_genmodel
from certree.models.common.errors import InputError
from tests.cli.running import assert_bad_input, certree, json_of
from tests.extras.costs.model.timings import timings, timings_of_links

PLANTED = load_genmodel("gentree")  # Table 5: three kinds of links


def times(noise: float = 0.0, model: GenModel = PLANTED) -> list[Measurement]:
    return timings(3, benchmarks=BENCHMARKS, noise=noise) + timings_of_links(model, 3, noise=noise)


def test_planted_parameters_of_three_kinds_are_found() -> None:
    """Exact times give them to six digits; the file of the fit costs what the planted ones do on a network with all kinds."""
    found = fit(times())
    assert list(found.links) == ["root", "cross"]
    for link, level, start in (("root", PLANTED.root, (2, 1, 0)), ("cross", PLANTED.cross, (2, 0, 1))):
        far = found.links[link]
        assert far.threshold == (level.incast_threshold,) * 3
        assert far.estimates["alpha"].value == pytest.approx(float(PLANTED.start_seconds(*start)), rel=1e-6)
        assert far.estimates["beta"].value == pytest.approx(float(level.beta_seconds_per_float), rel=1e-6)
        assert far.estimates["epsilon"].value == pytest.approx(float(level.epsilon_seconds_per_float), rel=1e-6)


def test_the_file_costs_what_the_planted_parameters_do(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(parameters_toml(fit(times()), "mine", None))
    for network in ("switch:12", "tree:3x12", "tree:3x2/2x4"):
        mine, planted = (
            ct.cost(network, size="40MB", parameters=name, methods=["cps"]).cells[0]["seconds"] for name in (str(path), "gentree")
        )
        assert float(Fraction(mine)) == pytest.approx(float(Fraction(planted)), rel=1e-5)


def test_intervals_of_noisy_times_hold_the_planted_parameters() -> None:
    found = fit(times(noise=0.01))
    for link, level in (("root", PLANTED.root), ("cross", PLANTED.cross)):
        far = found.links[link]
        assert far.estimates["beta"].low < level.beta_seconds_per_float < far.estimates["beta"].high
        assert far.estimates["beta"].high < 1.1 * far.estimates["beta"].value
        assert far.threshold is not None
        assert far.threshold[1] <= 9 <= far.threshold[2]


def test_other_kinds_change_nothing_about_servers() -> None:
    near = [one for one in times(0.01) if one.link == "middle"]
    assert replace(fit(times(0.01)), links={}) == fit(near)


def test_a_csv_with_links_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "times.csv"
    path.write_bytes(measurements_csv(times()))
    assert path.read_text().startswith("benchmark,participants,floats,seconds,link\n")
    assert [one.link for one in read_measurements(path)] == [one.link for one in times()]
    outcome = certree("fit", path)
    assert outcome.code == 0
    assert [line.split()[:2] for line in outcome.out.splitlines()[8:10]] == [["root,", "alpha"], ["root,", "beta"]]
    assert "cross: 42 configurations; residuals" in outcome.out
    document = json_of("fit", path)
    assert document["links"]["cross"]["threshold"] == {"value": 9, "low": 9, "high": 9}


def test_what_does_not_decide_a_kind_names_it() -> None:
    near = timings(3, benchmarks=BENCHMARKS)
    far = timings_of_links(PLANTED)
    for some, words in (
        (
            [one for one in far if one.floats == 10**7],
            "link root: alpha, beta: cannot be separated; exchange was measured with 10000000",
        ),
        (
            [one for one in far if one.participants < 9],
            "link root: epsilon, w_t: thresholds 2 to 7 explain the times equally well, with servers",
        ),
    ):
        with pytest.raises(InputError, match=words):
            fit(near + some)
    with pytest.raises(InputError, match=r"only links of the kind .* were measured; those to servers .middle. are needed first"):
        fit(far)
    sooner = [replace(one, seconds=one.seconds - 0.02) for one in far if one.link == "root"]
    with pytest.raises(InputError, match=r"link root: an exchange starts in .* sooner than over the links of servers"):
        parameters_toml(fit(near + sooner), "mine", None)


@pytest.mark.parametrize(("row", "words"), [
    ("exchange,4,1000,0.1,uplink", "line 2: link is 'uplink'; allowed: middle, root, cross"),
    ("co-located-ps,4,1000,0.1,root", "line 2: link is 'root' for co-located-ps; allowed with it: middle, others with exchange"),
    ("exchange,4,1000,0.1", "line 2: 4 fields; expected 5: benchmark,participants,floats,seconds,link"),
])  # fmt: skip
def test_wrong_links_of_a_file_say_where(tmp_path: Path, row: str, words: str) -> None:
    path = tmp_path / "times.csv"
    path.write_text(f"benchmark,participants,floats,seconds,link\n{row}\n")
    assert_bad_input(certree("fit", path), words)
