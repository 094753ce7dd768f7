"""The race against other programs: rows, options, and what is run and read of programs that stand in for them."""

from pathlib import Path

import pytest

from tests.bench.race import peers, race
from tests.bench.race.peers import PeerError, booksim, forestcoll, tacos
from tests.bench.race.recorded import FIGURES, recorded
from tests.refused import assert_refused


def test_smoke_has_a_row_for_each_peer(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TACOS", "FORESTCOLL", "BOOKSIM"):
        monkeypatch.delenv(f"CERTREE_RACE_{name}", raising=False)
    race.main(["--smoke"])
    table = [[cell.strip() for cell in line.strip("|").split("|")] for line in capsys.readouterr().out.splitlines()]
    rows = [dict(zip(race.COLUMNS, cells, strict=True)) for cells in table[2:]]
    assert [row["peer"] for row in rows] == ["TACOS", "ForestColl", "BookSim2", "ASTRA-sim"]
    assert all(float(row["certree"]) > 0 and int(row["MB"]) > 0 for row in rows)
    assert float(rows[0]["certree"]) <= 1.02  # an all-gather of 64 MiB on a torus
    assert float(rows[2]["certree"]) == pytest.approx(recorded("BookSim2", "mesh:8x8", (1, 3)).quality, rel=0.05)  # type: ignore[union-attr]
    assert rows[2]["its quality"] == ""  # what is recorded is of more cycles


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ("7", "N: 7; allowed: 48, 64, 65"),
        ("--smoke 48", "--smoke takes no N"),
        ("--size 1Kb", "argument --size: size '1Kb'"),
        ("--tacos nowhere", "argument --tacos: nowhere does not exist"),
        ("--astra=x", "unrecognized arguments: --astra"),
    ],
)
def test_what_it_does_not_know(arguments: str, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert_refused(race, arguments, told, capsys)


def _program(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def test_a_run_ends_with_its_seconds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peers, "MOST_SECONDS", 1)
    with pytest.raises(PeerError, match="no answer within 1 s"):
        booksim(_program(tmp_path / "booksim", "while :; do :; done"), "torus", 8, flits=1, load=0.1, cycles=400)


def test_booksim_gets_the_traffic_and_its_last_latency_counts(tmp_path: Path) -> None:
    said = "echo Packet latency average = 31.5; echo Packet latency average = 33.25; exit 255"
    program = _program(tmp_path / "booksim", f'cp "$1" {tmp_path}/seen; {said}')
    latency, seconds = booksim(program, "torus", 8, flits=16, load=0.5, cycles=400)
    assert latency == 33.25
    assert seconds >= 0
    seen = (tmp_path / "seen").read_text()
    for line in ("topology = torus;", "k = 8;", "packet_size = 16;", "injection_rate = 0.03125;", "sample_period = 100;"):
        assert line in seen
    with pytest.raises(PeerError, match="exit code 1: no such option"):
        booksim(_program(tmp_path / "other", "echo no such option; exit 1"), "torus", 8, flits=1, load=0.1, cycles=400)
    with pytest.raises(PeerError, match="exit code 0"):  # as the program ends without results
        booksim(_program(tmp_path / "unstable", "echo Simulation unstable"), "torus", 8, flits=1, load=0.1, cycles=400)
    with pytest.raises(PeerError, match="said no latency"):
        booksim(_program(tmp_path / "silent", "exit 255"), "torus", 8, flits=1, load=0.1, cycles=400)
    wrong = _program(tmp_path / "wrong", "echo Packet latency average = 1.2.3; exit 255")
    with pytest.raises(PeerError, match=r"no number: '1\.2\.3'"):
        booksim(wrong, "torus", 8, flits=1, load=0.1, cycles=400)
    with pytest.raises(PeerError, match="exit code 126"):
        booksim(tmp_path, "torus", 8, flits=1, load=0.1, cycles=400)


def test_forestcoll_gets_the_torus(tmp_path: Path) -> None:
    (tmp_path / "pipeline_allgather.py").write_text(
        "def optimal_pipeline_spanning_trees(torus):\n"
        "    assert sorted(degree for _, degree in torus.out_degree()) == [4] * 12\n"
        "    return (11, 4), None\n"
    )
    assert forestcoll(tmp_path, (3, 4))[0] == 11 / 4
    with pytest.raises(PeerError, match=r"no pipeline_allgather\.py"):
        forestcoll(tmp_path / "src", (3, 4))


def test_tacos_is_compiled_and_its_time_is_in_rounds(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    with pytest.raises(PeerError, match="no src"):
        tacos(tmp_path, (3, 4))
    (tmp_path / "src" / "main.cpp").write_text("not compiled")
    (tmp_path / "src" / "any.cpp").write_text("")
    torus = "namespace tacos { struct Torus%dD { %s int npusCount() const { return sides; } int sides; }; }\n"
    two = "Torus2D(int x, int y, int, int) : sides(x * y) {}"
    three = "Torus3D(int x, int y, int z, int, int) : sides(x * y * z) {}"
    headers = {"topology/torus_2d.h": torus % (2, two), "topology/torus_3d.h": torus % (3, three)}
    headers["collective/all_gather.h"] = "namespace tacos { struct AllGather { AllGather(int n, int) : n(n) {} int n; }; }\n"
    headers["synthesizer/synthesizer.h"] = (  # as many rounds as endpoints
        "namespace tacos { struct Synthesizer { template <typename T> double solve(const T&, AllGather all, double bytes) {\n"
        "return all.n * bytes / 50 / (1 << 30) * 1e6; } }; }\n"
    )
    for name, text in headers.items():
        path = tmp_path / "include" / "tacos" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#pragma once\n" + text)
    assert tacos(tmp_path, (3, 4))[0] == pytest.approx(12)
    assert tacos(tmp_path, (2, 3, 4))[0] == pytest.approx(24)


def test_figures_are_told_apart_and_have_a_source() -> None:
    assert len({(one.peer, one.network, one.traffic) for one in FIGURES}) == len(FIGURES)
    assert all(one.source and (one.quality, one.seconds) != (None, None) for one in FIGURES)
    assert recorded("TACOS", "ring:4") is None


def test_a_peer_that_ends_without_a_result_has_a_row_that_says_so() -> None:
    def fails() -> tuple[float, float]:
        raise PeerError("a | b\nc")

    assert race.run_now(fails, "{:.3f}") == ["", "", "a / b c"]
    assert race.run_now(lambda: (1.25, 2.0), "{:.3f}") == ["1.250", "2.0", "run now"]
