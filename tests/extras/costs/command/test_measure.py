"""`certree measure`: a file that `certree fit` reads; what is measured is kept when a person has enough."""

from pathlib import Path

import pytest

import certree.api as ct
from certree.extras.costs.model.fitting.measurements import Measurement, read_measurements
from certree.extras.costs.run.host.measuring import Benchmarks
from tests.cli.running import assert_bad_input, certree, json_of

QUICK = ["--servers", "2,3", "--floats", "2000,20000", "--vectors", "2,3", "--repetitions", "2"]


def test_a_file_for_fit(tmp_path: Path) -> None:
    path = tmp_path / "times.csv"
    outcome = certree("measure", *QUICK, "-o", path)
    assert outcome.code == 0
    assert outcome.out.splitlines()[-1] == "24 runs of 12 configurations"
    assert f"wrote {path}" in outcome.err
    runs = read_measurements(path)
    assert len(runs) == 24
    assert len({(run.benchmark, run.participants, run.floats) for run in runs}) == 12
    # two servers show no incast, and that is said
    alone = tmp_path / "alone.csv"
    alone.write_text("".join(line for line in path.read_text().splitlines(keepends=True) if ",3," not in line))
    assert_bad_input(certree("fit", alone), "epsilon, w_t: runs with 3 or more servers are needed")


def test_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        Benchmarks, "run", lambda self: iter([[Measurement("exchange", 2, 10, 1.0), Measurement("exchange", 2, 10, 3.0)]])
    )
    document = json_of("measure", "-o", tmp_path / "times.csv")
    assert (document["format"], document["version"]) == ("certree-measure-report", 1)
    assert document["runs"] == 2
    median = {"benchmark": "exchange", "participants": 2, "floats": 10, "seconds": 2.0, "device": "", "link": "middle"}
    assert document["medians"] == [median]


def test_a_busy_computer_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both commands say so, unless the least run is what counts."""
    path = tmp_path / "times.csv"

    def runs(self: Benchmarks) -> object:
        """Co-located PS of 2 + n microseconds and 1 ns a float, additions of N floats; one run of three is not disturbed."""
        for n in (2, 3, 4):
            for floats in (1000, 10000, 40000):
                time = 2e-6 * n + 1e-9 * floats
                yield [Measurement("co-located-ps", n, floats, times * time) for times in (1, 4, 5)]
                yield [Measurement("addition", n, floats, times * 1e-9 * n * floats) for times in (1, 1, 1)]

    monkeypatch.setattr(Benchmarks, "run", runs)
    told = "repeated runs differ: the median of co-located-ps, "
    measured = certree("measure", "-o", path)
    assert measured.code == 0
    assert told in measured.err
    assert "floats is 4 times the minimum; the computer was busy with other work" in measured.err
    fitted = certree("fit", path, "--no-incast")
    assert fitted.code == 0
    assert told in fitted.err
    assert told not in certree("fit", path, "--no-incast", "--least").err
    # times that no parameters explain
    path.write_text(
        "benchmark,participants,floats,seconds\n"
        + "".join(
            f"co-located-ps,{n},{floats},{1e-3 * (1 + (n + floats) % 3)}\n" for n in (2, 3, 4) for floats in (1000, 2000, 4001)
        )
    )
    assert "these times do not follow the model well with any parameters" in certree("fit", path, "--no-incast").err


def test_ctrl_c_keeps_what_was_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(self: Benchmarks) -> object:
        yield [Measurement("addition", 2, 10, 1.0)]
        raise KeyboardInterrupt

    monkeypatch.setattr(Benchmarks, "run", interrupted)
    outcome = certree("measure", "-o", tmp_path / "times.csv")
    assert outcome.code == 130
    assert read_measurements(tmp_path / "times.csv") == [Measurement("addition", 2, 10, 1.0)]


def test_an_output_that_exists_is_refused_before_anything_is_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Benchmarks, "run", lambda self: pytest.fail("measured"))
    (tmp_path / "there.csv").write_text("mine")
    for name, said in (("there.csv", "exists"), ("no/folder.csv", "the folder .*no does not exist")):
        with pytest.raises(ct.InputError, match=said):
            ct.measure([2], [1000], [2], output=tmp_path / name)
