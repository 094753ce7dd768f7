"""Reports as files: what they say, that they load nothing, that bytes repeat, and what is refused."""

import base64
import html
import json
import re
import shlex
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import certree.api as ct
from certree.extras.reports.explorer import document as viewer
from certree.extras.reports.explorer.document import viewer_document
from certree.extras.reports.explorer.packing import packed
from certree.models.common.errors import InputError
from certree.models.schedule.collective import CollectiveKind
from certree.verify.checker import verify_schedule
from tests.cli.running import certree
from tests.models.examples import ring_all_gather

SECTIONS = """
What was asked
bandwidth time ≥ 0.6667 (2/3) M/B
optimal: equal to the bound
time bound
>time ≥
multitree
equal to the closed form
depth of the row memory
Re-check: <code>certree verify SCHEDULE.json
TLC was not asked for
""".strip().split("\n")
QUICK = {"published": False, "simulate": False}


def written(folder, *schedules, **options):
    path = folder / "report.html"
    ct.report(list(schedules), path, force=True, **({**QUICK, **options}))
    return path.read_text()


def data_of(page):
    return json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL).group(1))


def test_sections_of_a_valid_schedule(tmp_path):
    schedule = ct.synthesize("mesh:3x3", method="packing", size="1MiB")
    page = written(tmp_path, schedule, published=True, simulate=True)
    for words in SECTIONS:
        assert words in page, words
    run = ct.simulate(schedule)
    assert f"{run.cycles:,} cycles" in page


def test_a_run_without_routers(tmp_path):
    schedule = ct.synthesize("fattree:2x2", method="multitree", size="16KiB")
    page = written(tmp_path, schedule, simulate=True, without_routers=True)
    assert "slotted run from tables, without routers" in page
    assert "certree simulate SCHEDULE.json --without-routers" in page
    assert "without-routers" not in written(tmp_path, schedule, simulate=True)


def test_the_same_input_gives_the_same_bytes(tmp_path):
    schedule = ct.synthesize("ring:4", method="ring", size="64KiB")
    assert written(tmp_path, schedule, published=True) == written(tmp_path, schedule, published=True)


def test_nothing_is_loaded_from_elsewhere(tmp_path):
    page = written(tmp_path, ct.synthesize("ring:4", method="ring", size="64KiB"), published=True, simulate=True)
    assert not re.findall(r"<link[^>]*href=\"(?!data:)|(?:src|href)=\"(?:https?:)?//|@import|url\((?!data:)", page)


def test_size_of_an_8x8_mesh(tmp_path):
    page = written(tmp_path, ct.synthesize("mesh:8x8", method="multitree", size="64MiB"))
    assert len(page.encode()) < 1_000_000


def numbers(column):
    """A column of the document of a view, as `model.js` reads it."""
    return np.frombuffer(base64.b64decode(column["bytes"]), f"<{column['type']}").tolist()


@pytest.fixture
def _without_plots(monkeypatch):
    """A plot takes most of the time of a small page; other tests draw them."""
    monkeypatch.setattr("certree.extras.reports.pages.facts.time_plot", lambda cells, title: None)


@pytest.mark.usefixtures("_without_plots")
@pytest.mark.parametrize("kind", list(CollectiveKind))
@pytest.mark.parametrize("network", ["torus:3x3,without-link=0-1", "fattree:2x2"])
def test_every_collective_over_switches_and_damage(tmp_path, network, kind):
    root = 0 if kind in ("broadcast", "reduce", "gather", "scatter") else None
    schedule = ct.synthesize(network, kind, root=root, size="16KiB")
    (data,) = data_of(written(tmp_path, schedule, simulate=True))
    assert len(numbers(data["chunk"])) == schedule.transfers
    assert len(data["channels"]) == len(schedule.topology.pair_src)


@pytest.mark.usefixtures("_without_plots")
def test_tables_and_symmetric_schedules(tmp_path):
    ct.export(ct.synthesize("ring:4", method="ring", size="64KiB"), "json", tmp_path / "tables")
    page = written(tmp_path, tmp_path / "tables", ct.synthesize("torus:4x4", method="symmetric"))
    assert "Side by side" in page
    assert len(data_of(page)) == 2


def test_names_cannot_be_markup(tmp_path):
    schedule = ct.synthesize("ring:4", method="ring", size="64KiB")
    named = replace(schedule, topology=replace(schedule.topology, name="</script><script>alert(1)</script>"))
    page = written(tmp_path, named, title="<b>")
    assert "<script>alert" not in page
    assert "<title>&lt;b&gt;</title>" in page


def test_more_transfers_than_a_page_has(monkeypatch):
    """Transfers of the first chunks are there one by one, and the document says how many are not."""
    monkeypatch.setattr(viewer, "MOST_TRANSFERS", 30)
    made = replace(ring_all_gather(8), made_for=ct.synthesize("ring:4", method="ring", size="64KiB").made_for)
    document = viewer_document(made, made.made_for, verify_schedule(made))
    chunks = numbers(document["chunk"])
    assert len(chunks) == 28
    assert set(chunks) == {0, 1, 2, 3}
    assert (
        "56 transfers per iteration are too many for a page: one by one there are those of chunks 0 to 3 (28)"
        in document["left_out"][0]
    )
    assert document["aggregate"]["busy"][0] == [50] * 7
    monkeypatch.setattr(viewer, "MOST_TRANSFERS", 3)
    assert numbers(viewer_document(made, made.made_for, verify_schedule(made))["chunk"]) == []
    monkeypatch.setattr(viewer, "MOST_TRANSFERS", 56)
    assert len(numbers(viewer_document(made, made.made_for, verify_schedule(made))["chunk"])) == 56
    monkeypatch.setattr(viewer, "MOST_USES", 55)
    assert len(numbers(viewer_document(made, made.made_for, verify_schedule(made))["chunk"])) == 49


@pytest.mark.parametrize("largest", [0, 255, 256, 65_535, 65_536, 2**31 - 1])
def test_columns_of_a_page_are_read_back(largest):
    assert numbers(packed([0, largest, 1])) == [0, largest, 1]
    assert packed([largest])["type"] == ("u1" if largest < 1 << 8 else "u2" if largest < 1 << 16 else "i4")


@pytest.mark.usefixtures("_without_plots")
@pytest.mark.parametrize("kind", ["file", "tables", "csv", "bundle"])
def test_every_command_that_is_named_works(tmp_path, monkeypatch, kind):
    monkeypatch.chdir(tmp_path)
    schedule = ct.synthesize("ring:4", method="ring", size="4KiB")
    ct.save(schedule, "ring.json")
    sources = {"file": "ring.json", "tables": "exported", "csv": "mine.csv", "bundle": "ring.certree"}
    ct.export(schedule, "json", "exported")
    ct.bundle(schedule, "ring.certree", tla=False)
    (tmp_path / "mine.csv").write_text("chunk,op,src,dst,step\n0,reduce,1,0,0\n0,copy,0,1,1\n")
    given = {"topology": "ring:2", "collective": "all-reduce"} if kind == "csv" else {}
    ct.report(sources[kind], "report.html", **QUICK, **given)
    page = Path("report.html").read_text()
    named = [html.unescape(command) for command in re.findall("Re-check: <code>(.*?)</code>", page)]
    assert len(named) >= 6
    for command in named:
        if "model-check" not in command and (kind == "file" or "compare" not in command):
            for written_file in ("spacetime.svg", "load.svg"):
                Path(written_file).unlink(missing_ok=True)
            outcome = certree(*shlex.split(command)[1:])
            assert outcome.code == 0, (command, outcome)
    assert ("Evidence in the bundle" in page) == (kind == "bundle")


def test_an_invalid_schedule_without_certificate(tmp_path):
    made = ct.synthesize("ring:4", method="ring", size="4KiB")
    page = written(tmp_path, replace(made, step=made.step * 0, certificate=None))
    assert "causality" in page
    assert "Why no schedule can do better" not in page


def test_networks_that_have_no_name_are_not_named(tmp_path):
    schedule = ct.synthesize("ring:4", method="ring", size="4KiB")
    page = written(tmp_path, replace(schedule, topology=replace(schedule.topology, name="my network")))
    assert "certree bound" not in page
    assert "my network" in page


def test_freedom_of_deadlock(tmp_path):
    assert "no circle of waits among" in written(tmp_path, ct.synthesize("mesh:3x3", method="multitree", size="4KiB"))


def test_refusals(tmp_path):
    schedule = ct.synthesize("ring:4", method="ring", size="64KiB")
    with pytest.raises(InputError, match=r"the name of a report must end in \.html or \.htm"):
        ct.report(schedule, tmp_path / "report.pdf")
    with pytest.raises(InputError, match="a report on 9 schedules; allowed: 1 to 8"):
        ct.report([schedule] * 9, tmp_path / "report.html")
    with pytest.raises(InputError, match="a report on 0 schedules"):
        ct.report([], tmp_path / "report.html")
    ct.report(schedule, tmp_path / "report.html", **QUICK)
    with pytest.raises(InputError, match="exists"):
        ct.report(schedule, tmp_path / "report.html", **QUICK)


def test_a_view_of_a_schedule_takes_no_other_network():
    """A schedule states its own network and collective; a CSV does not."""
    schedule = ct.synthesize("ring:4", size="1KiB")
    with pytest.raises(InputError, match="topology, collective and root are for a CSV"):
        ct.explore(schedule, topology="ring:5")
    assert "ring:4" in ct.explore(schedule).html
