"""The command flits: layouts, sizes, heads and modules; what it refuses."""

from pathlib import Path

import pytest

import certree.api as ct
from tests.cli.running import assert_bad_input, certree, json_of


def test_one_layout_and_its_files(tmp_path: Path) -> None:
    ct.save(ct.synthesize("mesh:2x2", size="1KiB", method="multitree"), tmp_path / "s.json")
    ct.simulate(tmp_path / "s.json", engine="flit", trace_flits=tmp_path / "trace", allow_late=True)
    heads, modules = tmp_path / "heads.csv", tmp_path / "rtl"
    command = ["flits", tmp_path / "s.json", "--trace", tmp_path / "trace", "--heads", heads]
    outcome = certree(*command, "-o", modules)
    assert outcome.code == 0
    assert "next 4, eject 4, tree 2, data 118" in outcome.out
    lines = heads.read_text().splitlines()
    assert lines[0] == "cycle,from,to,packet,vc,type,next,eject,tree,dest,src,flit"
    assert len(lines) == 1 + 3 * 24  # into the source, over the link, out of the destination
    assert "localparam int unsigned PORTS = 4;" in (modules / "certree_flit_pkg.sv").read_text()
    assert len(list(modules.iterdir())) == 4
    assert_bad_input(certree(*command), "heads.csv exists")


def test_several_and_json() -> None:
    found = json_of("flits", "ring:4", "mesh:2x2")
    assert ([layout["ports"] for layout in found["layouts"]], found["heads"]) == ([4, 4], None)
    assert certree("flits", "ring:4", "mesh:2x2").out.splitlines()[-1].split()[:3] == ["mesh:2x2", "4", "4"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("switch:64", "a message's head has 198 bits, 3 one-hot fields of 64 ports"),
        ("ring:4 ring:5 --trace x", "--trace is for one schedule or network; there are 2"),
        ("ring:4 ring:5 -o x", "--output is for one schedule or network; there are 2"),
        ("ring:4 --heads x", "name one with --trace"),
        ("ring:4 --trace missing.ndjson", "missing.ndjson"),
        ("klein:4", "unknown topology"),
    ],
)
def test_refused(arguments: str, words: str) -> None:
    assert_bad_input(certree("flits", *arguments.split()), words)
