"""The interactive view in a browser: clicks, hover, zoom, colours, large networks, alone and in a notebook."""

import numpy as np
import pytest

import certree.api as ct
from certree.models.schedule.schedule import make_schedule
from tests.browser.looked_at import barriers, overlaps
from tests.browser.views import VIEW, expected, go_to, listed, written


@pytest.fixture
def page(schedule, opened, tmp_path):
    return opened(written(tmp_path, schedule))


def test_clicks_on_network_and_canvas_filter(page):
    page.locator(f"{VIEW} svg.network [data-node='4']").click()
    assert page.locator(f"{VIEW} [data-is=node]").input_value() == "4"
    page.locator(f"{VIEW} svg.network [data-node='4']").click()
    assert page.locator(f"{VIEW} [data-is=node]").input_value() == ""
    box = page.locator(f"{VIEW} canvas").bounding_box()
    view = "const t = viewers[0].time"
    place = "[t.width, t.height, t.schedule.use_round[0], t.lines.indexOf(t.schedule.use_channel[0])]"
    width, height, column, line = page.evaluate(f"(() => {{ {view}; return {place} }})()")
    page.locator(f"{VIEW} canvas").click(position={"x": 74 + (column + 0.5) * width, "y": 34 + (line + 0.5) * height})
    assert page.locator(f"{VIEW} [data-is=chunk]").input_value() == str(
        page.evaluate("schedules[0].chunk[schedules[0].use_row[0]]")
    )
    assert box["width"] > 300


def test_hover_tells_the_transfer(page):
    page.locator(f"{VIEW} svg.network [data-node='4']").hover()
    assert page.locator("#tip").inner_text() == "node 4"
    page.locator(f"{VIEW} [data-is=load]").check()
    middle = page.locator(f"{VIEW} svg.network .channel").first.evaluate(
        """(line) => {
            const place = line.getPointAtLength(line.getTotalLength() / 2).matrixTransform(line.getScreenCTM());
            return [place.x, place.y];
        }"""
    )
    page.mouse.move(*middle)
    assert "% in use" in page.locator("#tip").inner_text()


def test_zoom(page):
    width = "viewers[0].time.width"
    before = page.evaluate(width)
    page.locator(f"{VIEW} [data-do=out]").click()
    assert page.evaluate(width) < before
    page.locator(VIEW).focus()
    page.keyboard.press("+")
    assert page.evaluate(width) == before


def test_the_network_comes_closer_and_moves(page):
    """Keys and buttons zoom, dragging moves without choosing anything, and the whole network is there again."""
    shown = "(({ x, y, width }) => [x, y, width])(viewers[0].network.box)"
    whole = page.evaluate(shown)
    page.locator(f"{VIEW} [data-do=closer]").click()
    page.locator(VIEW).focus()
    page.keyboard.press("i")
    x, y, width = page.evaluate(shown)
    assert width < whole[2] / 2
    node = page.locator(f"{VIEW} svg.network [data-node='4']").bounding_box()
    across, down = node["x"] + node["width"] / 2, node["y"] + node["height"] / 2
    page.mouse.move(across, down)
    page.mouse.down()
    page.mouse.move(across + 60, down + 30, steps=3)
    page.mouse.up()
    moved = page.evaluate(shown)
    assert (moved[0] < x, moved[1] < y, moved[2]) == (True, True, width)
    assert page.locator(f"{VIEW} [data-is=node]").input_value() == ""
    page.keyboard.press("o")
    page.keyboard.press("0")
    assert page.evaluate(shown) == whole


def test_colours_follow_the_ground(page):
    """Dark on a dark ground, light in print and afterwards as before."""
    paper = "palette.paper"
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(f"{paper} === '#12191f'")
    assert [*barriers(page), *overlaps(page)] == []
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate(paper) == "#ffffff"
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.evaluate(paper) == "#12191f"


def test_loads_that_are_nearly_alike_differ(opened, tmp_path):
    """The shades are those between the least and the greatest share."""
    page = opened(written(tmp_path, ct.synthesize("torus:4x4", method="multitree", size="16MiB")))
    least, most = page.evaluate("[schedules[0].shades.least, schedules[0].shades.most]")
    assert (least, most) == (60, 90)
    page.locator(f"{VIEW} [data-is=load]").check()
    assert page.locator(f"{VIEW} [data-is=network-legend]").inner_text().split("\n")[0].startswith(f"{least} %")


def test_a_large_network_is_aggregated(opened, tmp_path):
    """1,024 endpoints, a million transfers."""
    nodes = 1024
    chunk, step = (part.ravel() for part in np.meshgrid(np.arange(nodes), np.arange(nodes - 1), indexing="ij"))
    src = (chunk + step) % nodes
    columns = {"chunk": chunk, "op": np.ones_like(chunk), "step": step, "src": src, "dst": (src + 1) % nodes}
    large = make_schedule(ct.topology("ring:1024"), ct.collective("all-gather"), np.arange(nodes), columns)
    path = written(tmp_path, large)
    assert path.stat().st_size < 8_000_000
    page = opened(path)
    assert "1,047,552 transfers per iteration are too many for a page" in page.locator(f"{VIEW} .left-out").first.inner_text()
    assert page.evaluate("schedules[0].aggregate.busy[0][5]") == 50  # every node uses one of its two channels, all the time
    assert not page.locator(f"{VIEW} [data-is=aggregate]").is_checked()
    page.locator(f"{VIEW} [data-is=aggregate]").check()
    assert page.locator(f"{VIEW} [data-is=time-legend]").inner_text() == "50 %"
    go_to(page, 7)
    rows = np.flatnonzero((large.step == 7) & (large.chunk < 244))
    assert listed(page) == {(int(row), 0) for row in rows[:100]}
    assert page.locator(f"{VIEW} [data-is=list-caption]").inner_text() == "Step 7: 244 transfers, the first 100 are listed"
    page.locator(f"{VIEW} [data-is=aggregate]").uncheck()
    assert "Channels over time" in page.locator(f"{VIEW} [data-is=time-caption]").inner_text()


def test_a_network_that_is_too_large_for_a_picture(opened, tmp_path, monkeypatch):
    monkeypatch.setattr("certree.extras.reports.pictures.ground.MOST_NODES", 3)
    page = opened(written(tmp_path, ct.synthesize("ring:4", method="ring", size="4KiB")))
    assert "4 nodes and 8 channels are too many for a picture of the network" in page.locator(f"{VIEW} .left-out").inner_text()
    assert not page.locator(f"{VIEW} svg.network").is_visible()
    go_to(page, 2)
    assert page.locator(f"{VIEW} .transfers tbody tr").count() == 4
    assert not page.locator(f"{VIEW} .of-network").first.is_visible()
    page.locator(VIEW).focus()
    for key in ("i", "o", "0"):  # nothing to look at closer
        page.keyboard.press(key)


def test_draw_writes_the_view_alone(routed, opened, tmp_path):
    ct.draw(routed, tmp_path / "view.html")
    page = opened(tmp_path / "view.html")
    go_to(page, 1)
    assert listed(page) == expected(routed, 1)
    assert [*barriers(page), *overlaps(page)] == []


def test_a_notebook_shows_the_view(routed, opened, tmp_path):
    cell = ct.explore(routed)._repr_html_()
    (tmp_path / "notebook.html").write_text(f'<!DOCTYPE html><html lang="en"><title>notebook</title><body>{cell}</body></html>')
    frame = opened(tmp_path / "notebook.html").frame_locator("iframe")
    frame.locator("[data-do=forward]").click()
    assert listed(frame) == expected(routed, 1)
