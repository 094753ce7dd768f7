"""Timelines of traces: a box for everything that takes time, at its place, and what is refused."""

import json
import re
from pathlib import Path

import pytest

import certree.api as ct
from certree.extras.reports.pictures.trace_timeline import WIDTH, timeline_picture
from tests.cli.running import assert_bad_input, certree


def _trace(folder: Path, endpoint: str, size: str = "12KiB") -> tuple[Path, int]:
    made = ct.synthesize("ring:3", method="ring", size=size)
    run = ct.simulate(made, run="paced", endpoint=endpoint, trace=folder / "t.jsonl", force=True)
    return folder / "t.jsonl", run.cycles


@pytest.mark.parametrize("endpoint", ["none", "baseline", "ace:chunk=4KiB"])
def test_everything_that_takes_time_has_a_box(endpoint: str, tmp_path: Path) -> None:
    trace, cycles = _trace(tmp_path, endpoint)
    entries = [json.loads(line) for line in trace.read_text().splitlines()]
    messages = [entry for entry in entries if "node" in entry]
    fetched = sum(entry.get("at_interface", entry["fired"]) > entry["fired"] for entry in messages)
    taken = sum(entry["usable"] > entry["last_flit_arrived"] for entry in messages)
    moves = sum(entry.get("event") in ("loaded", "gone on", "returned") for entry in entries)
    svg = timeline_picture(trace, None)
    boxes = re.findall(r'<rect x="([-\d.]+)" y="[-\d.]+" width="([\d.]+)"[^>]*><title>', svg)
    assert len(boxes) == len(messages) + fetched + taken + moves
    assert max(float(left) + float(width) for left, width in boxes) <= WIDTH + 1
    assert f"t.jsonl: {max(entry.get('usable', entry.get('cycle')) for entry in entries):,} cycles" in svg
    assert ("at work" in svg) == endpoint.startswith("ace")
    assert timeline_picture(trace, None) == svg
    assert cycles > 0


def test_the_command(tmp_path: Path) -> None:
    trace, _ = _trace(tmp_path, "ace")
    assert certree("draw", trace, "-o", tmp_path / "t.svg").code == 0
    assert (tmp_path / "t.svg").read_text().startswith("<svg")
    assert certree("draw", trace, "--view", "timeline", "-o", tmp_path / "t.png").code == 0
    assert_bad_input(certree("draw", trace, "--view", "load", "-o", tmp_path / "u.svg"), "a trace has one: timeline")
    written = trace.read_text()
    for cycle in (2**63 - 1, 10**22):
        trace.write_text(written.replace('"event": "load", "cycle": 0', f'"event": "load", "cycle": {cycle}', 1))
        done = certree("draw", trace, "-o", tmp_path / f"{cycle}.svg")
        if cycle < 2**63:
            assert done.code == 0
        else:
            assert_bad_input(done, "t.jsonl, line 1: cycle is 10000000000000000000000; allowed: whole numbers from 0 to 9223372")
    trace.write_text(written.replace('"usable"', '"useful"'))
    assert_bad_input(certree("draw", trace, "-o", tmp_path / "u.svg"), "usable")
    assert not (tmp_path / "u.svg").exists()
