"""`certree execute` on the command line."""

from pathlib import Path

import pytest

from tests.cli.running import certree, json_of


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("execute") / "s.json"
    assert certree("synthesize", "ring:3", "--method", "ring", "--size", "6KiB", "-o", path).code == 0
    return path


def test_words_and_document(made: Path) -> None:
    outcome = certree("execute", made, "--local", 3, "--iterations", 1)
    assert outcome.code == 0
    lines = outcome.out.splitlines()
    assert lines[0] == "right: all-reduce on ring:3, made by ring"
    assert lines[1] == "  3 processes · 12 messages · 6 KiB of float32, sum"
    assert lines[2].startswith("  results have the bits of the reference; error / bound 0.")
    document = json_of("execute", made, "--type", "int32", "--op", "max", "--iterations", 2)
    assert (document["right"], document["error_over_bound"], document["operation"]) == (True, 0, "max")
    assert len(document["seconds"]) == 2
    assert document["bus_bytes_per_second"] == pytest.approx(4 / 3 * 6144 / min(document["seconds"]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--local", 4], "4 processes; ring:3 has 3 endpoints"),
        (["--rank-map", "2,0,1"], "--rank-map is for processes that mpirun starts"),
        (["--rank-map", "a"], "rank map 'a'; allowed: numbers of ranks"),
        (["--type", "float64"], "'float64' is not one of"),
        (["--time-limit", "0s"], "expected"),
        (["--size", "0"], "expected a positive number"),
    ],
)
def test_bad_input(made: Path, options: list[object], message: str) -> None:
    outcome = certree("execute", made, *options)
    assert (outcome.code, outcome.out) == (2, "")
    assert message in outcome.err


def test_devices_are_not_for_processes_of_mpi(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "3")
    outcome = certree("execute", made, "--devices", 3)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == "error: --devices 3: mpirun started the processes; devices are for --on\n"
