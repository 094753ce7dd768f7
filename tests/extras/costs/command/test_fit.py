"""`certree fit`: from measured times to parameters that `certree cost` and GenTree take."""

from pathlib import Path

import pytest

from certree.extras.costs.model.fitting.measurements import BENCHMARKS, measurements_csv
from tests.cli.running import assert_bad_input, certree, json_of
from tests.extras.costs.model.timings import timings


@pytest.fixture
def times(tmp_path: Path) -> Path:
    path = tmp_path / "times.csv"
    path.write_bytes(measurements_csv(timings(1, benchmarks=BENCHMARKS)))
    return path


def test_from_measurements_to_a_plan(times: Path, tmp_path: Path) -> None:
    """The parameters that come out give the plan that those which were put in give: 6x2 for 12 servers."""
    params = tmp_path / "mine.toml"
    outcome = certree("fit", times, "-o", params, "--name", "mine")
    assert outcome.code == 0
    assert f"wrote {params}" in outcome.err
    costs = json_of("cost", "ss:12", "--size", "400MB", "--params", params, "--methods", "gentree,cps")
    assert (costs["params"], costs["cells"][0]["method"]) == ("mine", "gentree")
    assert costs["cells"][0]["plans"]["12"]["plan"] == "6x2"
    made = json_of("synthesize", "ss:12", "--method", "gentree", "--option", f"model={params}", "--size", "400MB")
    assert made["valid"]


def test_table_and_residuals(times: Path) -> None:
    lines = certree("fit", times).out.splitlines()
    assert lines[0].split() == ["parameter", "value", "95", "%:", "from", "to", "unit"]
    assert [line.split()[0] for line in lines[1:8]] == ["alpha", "beta", "gamma", "delta", "epsilon", "2", "w_t"]
    assert lines[7].split() == ["w_t", "9", "9", "9", "servers"]
    assert lines[8].startswith("126 configurations; residuals 0.9")


def test_json(times: Path) -> None:
    document = certree("fit", times, "--json", "--confidence", "0.99").document
    assert document["confidence"] == 0.99
    beta = document["parameters"]["beta"]
    assert beta["low"] < 6.4e-9 < beta["high"]
    assert document["threshold"]["value"] == 9
    assert len(document["points"]) == 126
    for point in document["points"]:
        assert point["residual"] == pytest.approx(point["seconds"] / point["fitted"] - 1)


def test_plots_are_the_same_every_time(tmp_path: Path) -> None:
    path = tmp_path / "times.csv"
    path.write_bytes(measurements_csv(timings(1)))
    plots = [tmp_path / name for name in ("first.svg", "second.svg", "third.png")]
    for plot in plots:
        assert certree("fit", path, "--plot", plot).code == 0
    assert plots[0].read_bytes() == plots[1].read_bytes()
    assert plots[2].read_bytes().startswith(b"\x89PNG")


def test_no_incast(tmp_path: Path) -> None:
    path, params = tmp_path / "few.csv", tmp_path / "few.toml"
    path.write_bytes(measurements_csv(timings(2, servers=range(2, 7), benchmarks=BENCHMARKS)))
    assert_bad_input(certree("fit", path), "epsilon, w_t: no incast is seen with up to 6 servers")
    assert certree("fit", path, "--no-incast", "-o", params).code == 0
    text = params.read_text()
    assert 'epsilon_seconds_per_float = "0"\nincast_threshold = 6\n' in text
    assert "# Without incast; measured with up to 6 servers, the threshold is unknown." in text


def test_a_refused_fit_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "one.csv"
    path.write_bytes(measurements_csv(timings(1, servers=[4])))
    outcome = certree("fit", path, "-o", tmp_path / "one.toml", "--plot", tmp_path / "one.svg")
    assert_bad_input(outcome, "2 beta + gamma, delta: cannot be separated; co-located-ps was measured with 4 servers only")
    alone = tmp_path / "alone.csv"
    alone.write_bytes(measurements_csv(timings(1)))
    assert_bad_input(
        certree("fit", alone, "-o", tmp_path / "one.toml", "--plot", tmp_path / "one.svg"), "co-located-ps alone determines"
    )
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["alone.csv", "one.csv"]
