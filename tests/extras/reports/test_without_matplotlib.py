"""Without matplotlib: tables and pages are written, plots are not, and what cannot do without says what to install."""

import sys

import pytest

import certree.api as ct
from certree.extras.reports.make import plotting
from certree.models.common.errors import ToolMissingError


@pytest.fixture(autouse=True)
def _no_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plotting, "find_spec", lambda _name: None)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for module in ("plots", "png"):
        monkeypatch.delitem(sys.modules, f"{plotting.__package__}.{module}", raising=False)
        monkeypatch.delattr(sys.modules[plotting.__package__], module, raising=False)


def test_tune_writes_its_table(tmp_path):
    told = []
    ct.tune("ring:3", tmp_path / "tuned", smallest="1KiB", largest="1KiB", workers=1, progress=told.append)
    assert (tmp_path / "tuned" / "table.json").is_file()
    assert not list((tmp_path / "tuned").glob("*.svg"))
    assert "no plots: pip install 'certree[plots]'" in told


def test_report_has_its_tables(tmp_path):
    ct.report(ct.synthesize("ring:3", method="ring", size="1KiB"), tmp_path / "report.html", published=False)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Closed forms of slotted runs" in page
    assert 'alt="Time over message size' not in page


@pytest.mark.parametrize("name", ["ring.png", "compared.svg"])
def test_what_needs_it_is_refused(tmp_path, name):
    drawn = "ring:3" if name == "ring.png" else ct.compare("ring:3", sizes=["1KiB"], methods=["ring"])
    with pytest.raises(ToolMissingError, match=r"need matplotlib: pip install 'certree\[plots\]'"):
        ct.draw(drawn, tmp_path / name)
    assert not list(tmp_path.iterdir())
