"""How results show themselves in notebooks: networks as pictures, the rest as tables with the facts of their `repr`."""

import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

import certree.api as ct


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """An object of each kind, by the name of its class, or another where there are several."""
    folder = tmp_path_factory.mktemp("shown")
    schedule = ct.synthesize("ring:4", size="1MiB")
    tables = ct.export(schedule, "json", folder / "tables")
    late = replace(schedule, step=schedule.step * 0)
    return {
        "Topology": schedule.topology,
        "Schedule": schedule,
        "SymmetricSchedule": ct.synthesize("torus:4x4", method="symmetric"),
        "Verdict": ct.verify(schedule),
        "invalid": ct.verify(late),
        "Tables": tables,
        "Run": ct.simulate(tables),
        "Bounds": ct.bound("ring:4"),
        "ComparedMethods": ct.compare("ring:4", sizes=["1KiB"], methods=["ring"]),
    }


TABLES = {
    "Schedule": [
        "all-reduce on ring:4",
        "chunks",
        "24",
        "steps",
        "18",
        "transfers",
        "144",
        "valid",
        "algbw",
        "busbw",
        "gap in bandwidth",
    ],
    "SymmetricSchedule": ["all-reduce on torus:4x4", "chunks", "time / time bound"],
    "Verdict": ["valid", "bandwidth time", "3/4 M/B (bound 3/4)"],
    "invalid": ["Verdict: invalid", "causality", "first"],
    "Tables": ["all-reduce on ring:4", "slot cycles", "2732", "message bytes", "1048576"],
    "Run": ["slotted, fast engine", "cycles", "49334", "data", "right"],
    "Bounds": ["≥ 3/4 M/B"],
    "ComparedMethods": ["1 KiB ring"],
}


@pytest.mark.parametrize("kind", TABLES)
def test_results_are_tables(shown, kind):
    page = shown[kind]._repr_html_()
    root = ET.fromstring(page)
    assert root.tag == "table"
    cells = ["".join(cell.itertext()) for cell in root.iter() if cell.tag in ("caption", "th", "td")]
    for fact in TABLES[kind]:
        assert any(re.search(rf"(^|\W){re.escape(fact)}(\W|$)", cell) for cell in cells), (fact, cells)
    assert shown[kind]._repr_svg_() is None


@pytest.mark.parametrize("kind", TABLES)
def test_a_repr_is_one_line(shown, kind):
    text = repr(shown[kind])
    assert text.startswith(f"<{type(shown[kind]).__name__} ")
    assert "\n" not in text
    assert "and and" not in text
    assert len(text) < 600


def test_networks_are_pictures(shown):
    """Networks are pictures as `draw` writes them; those that are too large to be drawn are tables."""
    assert ET.fromstring(shown["Topology"]._repr_svg_()).tag.endswith("svg")
    assert shown["Topology"]._repr_html_() is None
    large = ct.topology("full:258")
    with pytest.raises(ct.InputError):
        ct.draw(large, "full.svg")
    assert large._repr_svg_() is None
    assert "full:258" in large._repr_html_()


def test_names_from_files_cannot_be_markup(shown):
    named = replace(shown["Schedule"], topology=replace(shown["Topology"], name="<script>alert(1)</script>"))
    assert "<script>" not in named._repr_html_()
    assert "&lt;script&gt;" in named._repr_html_()
    assert "<script>" not in named.topology._repr_svg_()


def test_a_schedule_has_a_picture_and_its_verdict(shown):
    """The picture of a small schedule is its own, that of a large one its network's; an invalid one says what is wrong."""
    small, large = shown["Schedule"]._repr_html_(), shown["SymmetricSchedule"]._repr_html_()
    assert all(page.count("<svg") == 1 for page in (small, large))
    assert large[large.index("<svg") : large.index("</svg>")] in shown["SymmetricSchedule"].topology._repr_svg_()
    assert small[small.index("<svg") : small.index("</svg>")] not in shown["Schedule"].topology._repr_svg_()
    late = replace(shown["Schedule"], step=shown["Schedule"].step * 0)
    assert "<td>verdict</td><td>invalid: step 0:" in late._repr_html_()


def test_without_reports_a_schedule_is_a_table(shown, monkeypatch):
    monkeypatch.setattr(type(shown["Schedule"]), "notebook", "nothing of this name")
    assert "verdict" not in shown["Schedule"]._repr_html_()
    assert "<td>transfers</td><td>144</td>" in shown["Schedule"]._repr_html_()
