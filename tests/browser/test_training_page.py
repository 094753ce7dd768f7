"""The page of a training run in a browser: the timeline as it is written, and the view of the slowest collective."""

import pytest

import certree.api as ct
from tests.browser.looked_at import barriers, is_too_wide, overlaps
from tests.browser.views import expected, go_to, listed


@pytest.fixture(scope="module")
def run():
    return ct.train("astra-mlp-hybrid", "torus:2x2", method="ring")


@pytest.fixture
def page(run, opened, tmp_path):
    ct.report(run, tmp_path / "run.html")
    return opened(tmp_path / "run.html")


def test_texts_of_the_timeline_stand_where_they_are_written(page):
    written = page.locator("figure.wide svg text").evaluate_all(
        "texts => texts.map(text => [text.getAttribute('text-anchor') || 'start', getComputedStyle(text).textAnchor])"
    )
    assert {anchor for anchor, _ in written} == {"start", "middle", "end"}
    assert all(anchor == shown for anchor, shown in written)


def test_the_view_has_the_transfers_of_the_slowest_collective(page, run):
    assert barriers(page) == []
    assert overlaps(page) == []
    assert not is_too_wide(page)
    assert run.slowest.asked.kind == "all-reduce"
    for step in (0, run.slowest.schedule.steps - 1):
        go_to(page, step)
        assert listed(page) == expected(run.slowest.schedule, step)
