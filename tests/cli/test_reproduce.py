"""certree reproduce: figures of the papers, resumed, on other networks, from one's own file."""

import json
from fractions import Fraction

from certree.cli.reproduction import load_target, targets
from tests.cli.running import assert_bad_input, certree

MINE = """
title = "mine"
measure = "time"
machine = "multitree"
networks = ["ring:4", "bigraph:1x4"]
sizes = ["16KiB"]
ratios = [{ of = "ring", over = "tree", paper = "2", says = "somewhere" }]
[[lines]]
name = "ring"
method = "ring"
[[lines]]
name = "tree"
method = "multitree"
flow = "packet"
[[lines]]
name = "doubling"
method = "recursive-doubling"
[[lines]]
name = "hdrm"
method = "hdrm"
"""


def mine(tmp_path, text=MINE):
    (tmp_path / "mine.toml").write_text(text)
    return tmp_path / "mine.toml"


def test_every_target_can_be_read():
    assert targets() == ["multitree-fig10", "multitree-fig2", "multitree-fig9"]
    for name in targets():
        load_target(name)


def test_headers_of_packets():
    cells = certree("reproduce", "multitree-fig2", "--json").document["cells"]
    assert [(cell["column"], cell["paper"], cell["ours"]) for cell in cells] == [
        (64, "1/4", "1/4"),
        (128, None, "1/8"),
        (256, "1/16", "1/16"),
    ]


def test_scaling_in_small():
    """One network: the ring is the measure of all, and MultiTree three times as fast, as the paper says."""
    document = certree("reproduce", "multitree-fig10", "--smoke", "--json").document
    cells = {cell["row"]: cell for cell in document["cells"]}
    assert cells["torus:4x4/ring"]["ours"] == "1"
    speedup = cells["torus:4x4/ring over multitree-msg"]
    assert speedup["paper"] == "3"
    assert Fraction(speedup["ours"]) == 1 / Fraction(cells["torus:4x4/multitree-msg"]["ours"])
    assert abs(Fraction(speedup["ours"]) - 3) < Fraction(1, 10)
    assert cells["torus:4x4/ring-2d"]["source"] == "schedule"


def test_own_targets_resume(tmp_path):
    asked = ("reproduce", mine(tmp_path), "--jobs", "1", "-o", tmp_path / "out")
    first = certree(*asked)
    assert first.code == 0
    assert "8 of 8" in first.err
    (tmp_path / "out" / "cells" / sorted(path.name for path in (tmp_path / "out" / "cells").iterdir())[0]).unlink()
    again = certree(*asked)
    assert "7 of 8 cells are there already" in again.err
    assert again.out == first.out
    cells = json.loads((tmp_path / "out" / "cells.json").read_text())
    assert [cell["reason"][:20] for cell in cells if "reason" in cell] == ["hdrm needs a BiGraph"]
    assert first.out.strip() == (tmp_path / "out" / "table.md").read_text().strip()


def test_other_networks(tmp_path):
    cells = certree("reproduce", mine(tmp_path), "--topology", "ring:3", "--json").document["cells"]
    assert {cell["row"].split("/")[0] for cell in cells} == {"ring:3"}
    assert_bad_input(certree("reproduce", "multitree-fig10", "--topology", "moebius:3"), "moebius")


def test_bad_targets(tmp_path):
    assert_bad_input(certree("reproduce", "multitree-fig99"), "unknown target 'multitree-fig99'; known: multitree-fig10")
    for before, after, reason in (
        ('measure = "time"', 'measure = "luck"', "unknown measure 'luck'; known: bandwidth, time, header"),
        ('flow = "packet"', 'flow = "river"', "unknown flow 'river'; known: message, packet"),
        ('method = "hdrm"', 'method = "magic"', "unknown method 'magic'"),
        ('title = "mine"', "", "'title' is missing"),
        ('sizes = ["16KiB"]', 'sizes = ["16 bananas"]', "size '16 bananas'"),
        ('sizes = ["16KiB"]', "", "one of sizes and bytes_per_node is needed"),
        ('name = "hdrm"', 'nom = "hdrm"', "nom"),
        ("title", "[title", "is not TOML"),
    ):
        assert_bad_input(certree("reproduce", mine(tmp_path, MINE.replace(before, after, 1))), reason)
