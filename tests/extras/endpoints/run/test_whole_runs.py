"""One file with events of interfaces, endpoints and routers: both traces are in it, checked and drawn."""

import json
import re
from pathlib import Path

import pytest

import certree.api as ct
from certree.extras.endpoints.model.whole_trace import is_whole_trace, load_whole_trace
from certree.extras.reports.pictures.trace_timeline import timeline_picture
from certree.extras.tla.check.model_runs import not_checked
from certree.models.common.errors import UnsupportedError
from certree.models.traces.flits import is_flit_trace
from tests.cli.running import assert_bad_input, certree

SIZE = "192B"


def traced(folder: Path, endpoint: str) -> Path:
    """A trace of a ring of three, whose schedule is `s.json`."""
    certree("synthesize", "ring:3", "--method", "ring", "--size", SIZE, "-o", folder / "s.json", "--force")
    ct.simulate(
        folder / "s.json", run="paced", endpoint=endpoint, trace=folder / "t.ndjson", trace_flits=folder / "t.ndjson", force=True
    )
    return folder / "t.ndjson"


@pytest.mark.parametrize("endpoint", ["none", "baseline", "ace:chunk=768B", "ideal"])
def test_one_file_has_both(endpoint: str, tmp_path: Path) -> None:
    """Line by line what two files have, in the order of time; the same bytes each time."""
    path = traced(tmp_path, endpoint)
    written = path.read_bytes()
    assert traced(tmp_path, endpoint).read_bytes() == written
    assert is_whole_trace(path)
    assert not is_flit_trace(path)
    ct.simulate(tmp_path / "s.json", run="paced", endpoint=endpoint, trace=tmp_path / "m", trace_flits=tmp_path / "f")
    whole = load_whole_trace(path)
    assert (whole.run, whole.endpoint) == ("paced", None if endpoint == "none" else endpoint)
    assert whole.messages == (tmp_path / "m").read_text()
    assert whole.flits.splitlines()[1:] == (tmp_path / "f").read_text().splitlines()[1:]
    assert json.loads(whole.flits.splitlines()[0]) == json.loads((tmp_path / "f").read_text().splitlines()[0])
    times = [entry.get("usable", entry.get("cycle")) for entry in map(json.loads, written.decode().splitlines()[1:])]
    assert times == sorted(times)


def test_a_picture_has_packets_in_routers(tmp_path: Path) -> None:
    path = traced(tmp_path, "ace")
    packets = json.loads(path.read_text().splitlines()[0])["routers"]["packets"]
    svg = timeline_picture(path, None)
    # each goes from its interface to a router, to the next one, and from there to an interface
    assert len(re.findall(r"<title>packet \d+ from node \d to node \d, out to node \d: cycles", svg)) == len(packets)
    assert len(re.findall(r"<title>packet \d+ from node \d to node \d, out to its interface: cycles", svg)) == len(packets)
    assert "node 0: in its router" in svg
    assert "at work, iteration 0: cycles" in svg


def test_what_is_refused(tmp_path: Path) -> None:
    path = traced(tmp_path, "ace")
    asked = ("simulate", tmp_path / "s.json", "--run", "paced", "--endpoint", "ace")
    picture = tmp_path / "t.json"
    assert_bad_input(certree(*asked, "--trace", picture, "--trace-flits", picture), "no steps of flits", notes=1)
    assert not picture.exists()
    assert_bad_input(certree(*asked, "--trace", path, "--trace-flits", path), "t.ndjson")
    first, *lines = path.read_text().splitlines()
    for damaged, words in (
        (first.replace('"run":"paced"', '"run":"fast"'), "run"),
        (first.replace('"routers"', '"switches"'), "line 1: endpoint is a text or null"),
        (first.replace('"vcs":4', '"vcs":0'), "routers, line 1: vcs is 0"),
    ):
        path.write_text("\n".join([damaged, *lines]) + "\n")
        assert_bad_input(certree("model-check", "trace", path, tmp_path / "s.json"), words)
    for change, words in (
        (('"channels"', '"links"'), "channels"),
        (('"channels":[[0,1]', '"channels":[[0]'), "channels 0 is not a list of 2 whole numbers"),
        (('"routers":{', '"routers":7,"more":{'), "routers is no object"),
    ):
        path.write_text("\n".join([first.replace(*change), *lines]) + "\n")
        assert_bad_input(certree("draw", path, "-o", tmp_path / "t.svg"), words)
        assert not (tmp_path / "t.svg").exists()
    assert_bad_input(certree("model-check", "trace", path), "a trace of a whole run takes the tables")


@pytest.mark.parametrize(("ran", "stated"), [("ace", "baseline"), ("baseline", "ace")])
def test_a_system_that_is_another_one(ran: str, stated: str, tmp_path: Path) -> None:
    """Engines would not be checked where the first line names a system without, and parameters have no effect there."""
    path = traced(tmp_path, ran)
    if ran == "baseline":
        asked = ("model-check", "trace", path, tmp_path / "s.json", "--endpoint-params", "ace")
        assert_bad_input(certree(*asked), "no events of engines, to which --endpoint-params could apply")
    path.write_text(path.read_text().replace(f'"endpoint":"{ran}"', f'"endpoint":"{stated}"', 1))
    assert_bad_input(certree("model-check", "trace", path, tmp_path / "s.json"), f"system {stated} is another")


@pytest.mark.parametrize(
    ("endpoint", "names"),
    [
        ("none", ["paced trace", "trace of routers"]),
        ("ace", ["trace of engines", "trace of interfaces", "trace of routers"]),
        ("baseline", ["trace of interfaces", "trace of routers"]),
    ],
)
def test_both_are_behaviours(endpoint: str, names: list[str], tmp_path: Path) -> None:
    """Neither is one where a line of its own is missing."""
    path = traced(tmp_path, endpoint)
    done = certree("model-check", "trace", path, tmp_path / "s.json", "--json")
    assert done.code == 0, done
    assert [one["name"].startswith(name) for one, name in zip(done.document["models"], names, strict=True)] == [True] * len(names)
    lines = path.read_text().splitlines()
    lines.remove(next(line for line in lines if '"credit"' in line))
    path.write_text("\n".join(lines) + "\n")
    done = certree("model-check", "trace", path, tmp_path / "s.json", "--json")
    assert [one["as_expected"] for one in done.document["models"]] == [True] * (len(names) - 1) + [False]


def test_two_spellings_of_a_path_are_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = traced(tmp_path, "none")
    written = path.read_bytes()
    monkeypatch.chdir(tmp_path)
    ct.simulate(tmp_path / "s.json", run="paced", trace="t.ndjson", trace_flits=path, force=True)
    assert path.read_bytes() == written
    path.unlink()
    ct.simulate(tmp_path / "s.json", run="paced", endpoint="ideal", trace=str(path), trace_flits=Path("t.ndjson"))
    assert is_whole_trace(path)


@pytest.fixture
def _quick_routers(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check of routers takes seconds."""
    quick = not_checked("routers", "not here")
    monkeypatch.setattr("certree.extras.endpoints.run.traced.check_schedule_flits", lambda *_, **__: quick)


def _too_large(*_: object, **__: object) -> None:
    raise UnsupportedError("too large")


@pytest.mark.usefixtures("_quick_routers")
def test_what_no_specification_covers_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lines are still those of messages of these tables."""
    path = traced(tmp_path, "baseline")
    asked = ("model-check", "trace", path, tmp_path / "s.json")
    monkeypatch.setattr("certree.extras.endpoints.check.interface_trace_check.untimed_plan_of", _too_large)
    done = certree(*asked)
    assert done.code == 0
    assert done.out.splitlines()[0].startswith(
        "interfaces with endpoints: not checked: too large; order of uses: checked, 0 messages"
    )
    assert done.out.splitlines()[-1] == "0 of 0 as expected, 2 not checked"
    text = path.read_text()
    for change, words in (
        (('"row": ', '"row": 99'), "messages, line 1: the tables have no message of row 99"),
        (('"fired": ', '"fired": 99999'), "is before fired in cycle 99999"),
        (('"destination"', '"target"'), "messages, line 1"),
    ):
        assert change[0] in text
        path.write_text(text.replace(*change, 1))
        assert_bad_input(certree(*asked), words)
    path = traced(tmp_path, "none")
    assert_bad_input(certree(*asked, "--endpoint-params", "none.toml"), "the run had no endpoints")


@pytest.mark.usefixtures("_quick_routers")
def test_routers_are_checked_where_engines_cannot_be(tmp_path: Path) -> None:
    """Rows that wait for some of the arrivals of a cell are not in the specification of engines."""
    file, path = tmp_path / "s.json", tmp_path / "t.ndjson"
    certree("synthesize", "mesh:2x2", "--method", "ring-2d", "--size", SIZE, "-o", file)
    ct.simulate(file, run="paced", endpoint="ace", trace=path, trace_flits=path)
    done = certree("model-check", "trace", path, file, "--json")
    engines, interfaces, routers = done.document["models"]
    assert (done.code, engines["result"], interfaces["result"], routers["name"]) == (0, "not checked", "success", "routers")
    assert "waits for some of the arrivals" in engines["message"]
