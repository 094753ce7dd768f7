"""One file with events of interfaces, endpoints and routers: both traces are in it, checked and drawn."""

import json
import re
from pathlib import Path

import pytest

import certree.api as ct
from certree.extras.endpoints.model.whole_trace import is_whole_trace, load_whole_trace
from certree.extras.reports.pictures.trace_timeline import timeline_picture
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


@pytest.mark.parametrize(
    ("endpoint", "names"),
    [
        ("none", ["paced trace", "trace of routers"]),
        ("ace", ["trace of engines", "trace of routers"]),
        ("baseline", ["trace of routers"]),
    ],
)
def test_both_are_behaviours(endpoint: str, names: list[str], tmp_path: Path) -> None:
    """And neither is where a line of its own is missing."""
    path = traced(tmp_path, endpoint)
    done = certree("model-check", "trace", path, tmp_path / "s.json", "--json")
    assert done.code == 0, done
    assert [one["name"].startswith(name) for one, name in zip(done.document["models"], names, strict=True)] == [True] * len(names)
    lines = path.read_text().splitlines()
    lines.remove(next(line for line in lines if '"credit"' in line))
    path.write_text("\n".join(lines) + "\n")
    done = certree("model-check", "trace", path, tmp_path / "s.json", "--json")
    assert [one["as_expected"] for one in done.document["models"]] == [True] * (len(names) - 1) + [False]
