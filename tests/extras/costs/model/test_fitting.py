"""Fitting GenModel: planted parameters are found, intervals hold what they promise, data that decide nothing are refused."""

import re
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from certree.extras.costs.model.fitting.fit import fit
from certree.extras.costs.model.fitting.measurements import BENCHMARKS, Measurement, measurements_csv, merged, read_measurements
from certree.extras.costs.model.fitting.parameter_file import parameters_toml
from certree.extras.costs.model.fitting.students_t import two_sided_probability, two_sided_quantile
from certree.extras.costs.model.formulas.genmodel import load_genmodel
from certree.models.common.errors import InputError
from tests.extras.costs.model.timings import Cluster, timings

HEAD = "benchmark,participants,floats,seconds\n"
ALL = {"benchmarks": BENCHMARKS}


@pytest.mark.parametrize(
    ("probability", "degrees", "value"),
    [(0.95, 1, 12.706), (0.95, 2, 4.303), (0.95, 5, 2.571), (0.95, 30, 2.042), (0.99, 10, 3.169), (0.9, 7, 1.895), (0.5, 4, 0.741)],
)
def test_students_t(probability: float, degrees: int, value: float) -> None:
    """From the usual printed tables."""
    assert two_sided_quantile(probability, degrees) == pytest.approx(value, abs=6e-4)
    assert two_sided_probability(two_sided_quantile(probability, degrees), degrees) == pytest.approx(probability)


@pytest.mark.parametrize("options", [{}, ALL])
def test_exact_times_give_the_planted_parameters(options: dict[str, tuple[str, ...]]) -> None:
    for cluster in (Cluster(), Cluster(threshold=4, epsilon=3e-10), Cluster(threshold=13)):
        found = fit(timings(0, noise=0, cluster=cluster, **options))
        assert found.threshold == (cluster.threshold,) * 3
        for name, one in found.estimates.items():
            assert one.value == pytest.approx(cluster.truth[name], rel=1e-6)
        assert max(map(abs, found.residuals)) < 1e-9


@pytest.mark.parametrize(("options", "seeds"), [({}, 40), (ALL, 40)])
def test_intervals_cover_what_was_planted(options: dict[str, tuple[str, ...]], seeds: int) -> None:
    """95 % intervals over many noisy data sets: at least 9 of 10 hold the truth, for each parameter by itself."""
    truth, held = Cluster().truth, Counter[str]()
    for seed in range(seeds):
        found = fit(timings(seed, **options))
        held.update(name for name, one in found.estimates.items() if one.low <= truth[name] <= one.high)
        held.update(["w_t"] if found.threshold and found.threshold[1] <= 9 <= found.threshold[2] else [])
    assert set(held) == {*(truth if options else truth.keys() - {"beta", "gamma"}), "w_t"}
    assert min(held.values()) >= 0.9 * seeds, held


def test_wider_confidence_gives_wider_intervals_and_more_noise_too() -> None:
    widths = [
        fit(timings(1, noise=noise, **ALL), confidence=confidence).estimates["beta"]
        for noise, confidence in ((0.002, 0.9), (0.002, 0.99), (0.02, 0.9))
    ]
    first, sure, noisy = (one.high - one.low for one in widths)
    assert first < sure
    assert 5 * first < noisy


def test_the_median_of_repeated_runs_counts() -> None:
    good = timings(0, noise=0)
    disturbed = [replace(one, seconds=times * one.seconds) for one in good for times in (1, 1, 50)]
    assert fit(disturbed) == fit(good)
    assert merged(disturbed) == sorted(good)


def test_the_least_of_repeated_runs_counts_where_most_are_disturbed() -> None:
    good = timings(0, noise=0)
    disturbed = [replace(one, seconds=times * one.seconds) for one in good for times in (1, 3, 50)]
    assert fit(disturbed, least=True) == fit(good)
    assert fit(disturbed) != fit(good)


def test_without_incast() -> None:
    quiet = timings(2, servers=range(2, 9), **ALL)
    with pytest.raises(InputError, match="no incast is seen with up to 8 servers"):
        fit(quiet)
    found = fit(quiet, incast=False)
    assert found.threshold is None
    assert "epsilon" not in found.estimates
    assert found.estimates["beta"].value == pytest.approx(6.4e-9, rel=0.02)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"sizes": [10**7]}, "alpha, 2 beta + gamma, delta: cannot be separated; co-located-ps was measured with 10000000 floats"),
        ({"servers": [4]}, "2 beta + gamma, delta: cannot be separated; co-located-ps was measured with 4 servers only"),
        ({"servers": [4], "sizes": [10**7]}, "co-located-ps was measured with 4 servers only"),
        ({"servers": range(2, 9)}, "epsilon, w_t: no incast is seen with up to 8 servers"),
        ({"servers": [2, 3, 4, 8, 16]}, "epsilon, w_t: any threshold from 2 to 15 is possible"),
        ({"servers": [2, 4, 8, 16], "noise": 0}, "epsilon, w_t: thresholds 8 to 15 explain the times equally well, with servers"),
        ({"servers": range(10, 20)}, "epsilon, w_t: thresholds 2 to 10 explain the times equally well"),
        ({"servers": [2]}, "epsilon, w_t: runs with 3 or more servers are needed (found at most 2)"),
        ({"benchmarks": ["addition"]}, "only addition was measured, which determines gamma and delta alone"),
        ({"benchmarks": ["exchange"]}, "gamma, delta: nothing was measured that depends on it; co-located-ps was not measured"),
        ({"servers": [2, 3], "sizes": [10**6, 10**7]}, "4 configurations for 5 parameters; at least 6 are needed"),
    ],
)  # fmt: skip
def test_data_that_do_not_decide_are_refused(options: dict[str, object], reason: str) -> None:
    with pytest.raises(InputError, match=re.escape(reason)):
        fit(timings(3, **options))  # type: ignore[arg-type]


def test_times_that_contradict_the_model_are_refused() -> None:
    for cluster, name in ((Cluster(gamma=-1e-10), "gamma"), (Cluster(delta=-5e-11), "delta"), (Cluster(alpha=-1e-5), "alpha")):
        with pytest.raises(InputError, match=f"{name} would be negative, -.* to -.*: the times do not follow the model"):
            fit(timings(7, cluster=cluster, noise=0.002, **ALL))


def test_the_file_of_a_fit_is_read_as_it_was_written(tmp_path: Path) -> None:
    found = fit(timings(4, **ALL))
    path = tmp_path / "mine.toml"
    path.write_bytes(parameters_toml(found, 'my "cluster"', None))
    model = load_genmodel(str(path))
    assert model.name == 'my "cluster"'
    assert (model.server.alpha_seconds, model.root_level, model.cross_level) == (0, None, None)
    assert model.middle.incast_threshold == 9
    for level, field in (("middle", "alpha_seconds"), ("middle", "beta_seconds_per_float"), ("middle", "epsilon_seconds_per_float"),
                         ("server", "gamma_seconds_per_float"), ("server", "delta_seconds_per_float")):  # fmt: skip
        estimate = found.estimates[field.partition("_")[0]].value
        assert getattr(getattr(model, level), field) == Fraction(f"{estimate:.6g}")


def test_the_bandwidth_splits_2_beta_and_gamma() -> None:
    found = fit(timings(5, noise=0))
    with pytest.raises(
        InputError, match=re.escape("co-located-ps alone determines 2 beta + gamma, 1.34e-08 s per float; give the band")
    ):
        parameters_toml(found, "mine", None)
    text = parameters_toml(found, "mine", Fraction(5 * 10**9, 8)).decode()  # 4 bytes at 5 Gb/s: 6.4 ns
    assert 'beta_seconds_per_float = "6.4e-09"' in text
    assert 'gamma_seconds_per_float = "6e-10"' in text
    with pytest.raises(InputError, match=re.escape("at that bandwidth 2 beta is 3.2e-08 s per float, more than 2 beta + gamma")):
        parameters_toml(found, "mine", Fraction(10**9, 4))
    for wrong in (0, -5):
        with pytest.raises(InputError, match="allowed: more than 0"):
            parameters_toml(found, "mine", Fraction(wrong))
    with pytest.raises(InputError, match="these measurements already determine both"):
        parameters_toml(fit(timings(5, **ALL)), "mine", Fraction(10**9))


def test_a_csv_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "times.csv"
    written = timings(6, **ALL)
    path.write_bytes(measurements_csv(written))
    read = read_measurements(path)
    assert [(one.benchmark, one.participants, one.floats) for one in read] == [
        (one.benchmark, one.participants, one.floats) for one in written
    ]
    assert [one.seconds for one in read] == pytest.approx([one.seconds for one in written], rel=1e-8)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "the first line is 'nothing'; expected 'benchmark,participants,floats,seconds', which also states the units"),
        ("benchmark,participants,floats,milliseconds\n", "the first line is 'benchmark,participants,floats,milliseconds'"),
        ("benchmark,participants,bytes,seconds\n", "the first line is"),
        (HEAD, "has no measurements"),
        (HEAD + "ring,4,100,1\n", "line 2: benchmark is 'ring'; allowed: co-located-ps, exchange, add"),
        (HEAD + "exchange,4,100\n", "line 2: 3 fields; expected 4"),
        (HEAD + "exchange,4,100,1\n\nexchange,4,1e2,1\n", "line 4: 'exchange,4,1e2,1': expected whole"),
        (HEAD + "exchange,4,100,1 s\n", "line 2: 'exchange,4,100,1 s': expected whole numbers"),
        (HEAD + "exchange,4,100,-1\n", "line 2: seconds is -1.0; allowed: finite, above 0"),
        (HEAD + "exchange,4,100,nan\n", "line 2: seconds is nan; allowed"),
        (HEAD + "exchange,1,100,1\n", "line 2: participants is 1; allowed: 2 to"),
        (HEAD + "exchange,4,0,1\n", "line 2: floats is 0; allowed: 1 to"),
        (HEAD + "co-located-ps,4,3,1\n", "line 2: 3 floats leave some of 4 servers without data"),
        (HEAD + '"exchange', "is not CSV"),
    ],
)
def test_wrong_files_are_refused(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "times.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=re.escape(reason)):
        read_measurements(path)


def test_a_measurement_checks_itself() -> None:
    with pytest.raises(InputError, match="participants is 0"):
        Measurement("exchange", 0, 1, 1.0)
