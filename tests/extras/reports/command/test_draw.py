"""`certree draw`: every view, as SVG and PNG, of schedules of every kind."""

import json
import re
from xml.etree import ElementTree

import pytest

import certree.api as ct
from certree.extras.reports.make.views import VIEWS
from tests.cli.running import certree

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Schedules: repeating, over switches, of a damaged network, with targets, symmetric; and tables."""
    made = tmp_path_factory.mktemp("drawn")
    ct.save(ct.synthesize("mesh:3x3", method="packing", size="1MiB"), made / "mesh.json")
    ct.save(ct.synthesize("fattree:2x2", method="multitree", size="16KiB"), made / "tree.json")
    ct.save(ct.synthesize("torus:4x4,without-link=0-1", "all-gather", method="multitree", size="64KiB"), made / "damaged.json")
    ct.save(ct.synthesize("ring:4", "all-to-all", method="flows", size="64KiB"), made / "all-to-all.json")
    ct.save(ct.synthesize("torus:4x4", method="symmetric"), made / "symmetric.json")
    ct.export(made / "mesh.json", "json", made / "tables")
    (made / "wrong.csv").write_text("chunk,op,src,dst,step\n0,reduce,1,0,0\n0,reduce,2,0,0\n0,copy,0,1,1\n0,copy,0,2,0\n")
    return made


def drawn(folder, name, *options, suffix=".svg"):
    output = folder / f"drawn{suffix}"
    outcome = certree("draw", folder / name, *options, "-o", output, "--force")
    assert outcome.code == 0, outcome
    assert outcome.err.splitlines()[-1] == f"wrote {output}"
    return output.read_bytes()


@pytest.mark.parametrize("view", [view for view in VIEWS if view != "violation"])
@pytest.mark.parametrize("name", ["mesh.json", "tree.json", "tables"])
def test_views(folder, name, view):
    if (name, view) == ("tables", "bound"):
        outcome = certree("draw", folder / name, "--view", view, "-o", folder / "none.svg")
        assert "the schedule has no certificate; certree certify adds one" in outcome.err
        return
    picture = drawn(folder, name, "--view", view)
    assert ElementTree.fromstring(picture).tag.endswith("svg")
    assert picture == drawn(folder, name, "--view", view)


@pytest.mark.parametrize("view", ["spacetime", "load", "trees"])
@pytest.mark.parametrize("name", ["damaged.json", "all-to-all.json", "symmetric.json"])
def test_collectives_and_networks(folder, name, view):
    assert ElementTree.fromstring(drawn(folder, name, "--view", view)).tag.endswith("svg")


def test_png(folder):
    picture = drawn(folder, "mesh.json", suffix=".png")
    assert picture.startswith(PNG)
    assert picture == drawn(folder, "mesh.json", suffix=".png")
    assert len(picture) > 20_000  # not an empty sheet


def test_an_invalid_schedule_shows_its_violation(folder):
    picture = drawn(folder, "wrong.csv", "--topology", "ring:3", "--collective", "all-reduce").decode()
    assert "step 0: transfer 3, copy of chunk 0, 0 &gt; 2" in picture
    assert "invalid" in picture


def test_bounds_of_an_invalid_certificate_are_not_drawn(folder):
    document = json.loads((folder / "mesh.json").read_text())
    document["certificate"]["bounds"][0]["witness"] = {"part": [7]}
    (folder / "forged.json").write_text(json.dumps(document))
    outcome = certree("draw", folder / "forged.json", "--view", "bound", "-o", folder / "none.svg")
    assert outcome.code == 2
    assert "the schedule or its certificate is invalid" in outcome.err
    assert b"witness-malformed" in drawn(folder, "forged.json")


def test_paced_waits(folder):
    picture = drawn(folder, "tree.json", "--view", "waits", "--run", "paced").decode()
    assert "paced run" in picture
    assert "cycles that messages waited for the channel, summed" in picture


def test_waits_without_routers(folder):
    """Planned waits, which routers do not keep."""
    wanted = ct.synthesize("fattree:2x2", method="retime", options={"of": "ring,bidirectional=true", "from": "paced"}, size="64KiB")
    ct.save(wanted, folder / "planned.json")
    picture = drawn(folder, "planned.json", "--view", "waits", "--without-routers").decode()
    assert f"{ct.simulate(wanted, without_routers=True).cycles:,} cycles" in picture
    bad = certree("draw", folder / "planned.json", "--view", "waits", "-o", folder / "none.svg")
    assert (bad.code, "planned waits need links that serve one message" in bad.err) == (2, True)


def test_the_waits_of_very_many_messages_are_not_recorded(folder, monkeypatch):
    monkeypatch.setattr("certree.extras.reports.make.views.MOST_MESSAGES", 10)
    outcome = certree("draw", folder / "tree.json", "--view", "waits", "-o", folder / "none.svg")
    assert outcome.code == 2
    assert "messages; the waits of at most 10 are drawn" in outcome.err


def test_a_bound_of_a_network(folder):
    output = folder / "bound.svg"
    assert certree("draw", "mesh:3x3", "--view", "bound", "-o", output).code == 0
    assert "bandwidth time ≥ 0.6667 (2/3) M/B (partition)" in output.read_text()
    assert certree("draw", "mesh:3x3", "--view", "bound", "--bound", "distance", "-o", output, "--force").code == 0
    assert "latency ≥ 4 steps (distance)" in output.read_text()
    assert certree("draw", "mesh:3x3", "--view", "bound", "--bound", "load", "--size", "1MiB", "-o", output, "--force").code == 0
    assert re.search("time ≥ [0-9,]+ cycles \\(load\\)", output.read_text())
    ct.draw(ct.bound("mesh:3x3"), output, kind="degree", force=True)
    assert "(degree)" in output.read_text()


def test_the_axis_tells_how_long_a_round_is(folder):
    assert "cycles (1 MiB, machine multitree)" in drawn(folder, "mesh.json").decode()
    assert "cycles (2 MiB, machine multitree)" in drawn(folder, "mesh.json", "--size", "2MiB").decode()
