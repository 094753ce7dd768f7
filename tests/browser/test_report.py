"""Reports in a browser: steps, replay, filters, keys, clicks, comparison, print."""

import random
from itertools import pairwise

import numpy as np
import pytest

import certree.api as ct
from certree.models.schedule.schedule import make_schedule
from certree.models.schedule.schedule_columns import Op
from tests.browser.looked_at import barriers, overlaps

VIEW = ".viewer"


@pytest.fixture(scope="module")
def schedule():
    """Iterations overlap: prologue, steady state and epilogue."""
    return ct.synthesize("mesh:3x3", method="packing", size="256KiB")


@pytest.fixture(scope="module")
def routed():
    """Messages over switches, in steps of several rounds."""
    return ct.synthesize("fattree:2x2", method="cps", size="16KiB", options={"rounds": "published"})


def written(folder, *schedules, **options):
    path = folder / "report.html"
    ct.report(list(schedules), path, published=False, simulate=False, force=True, **options)
    return path


@pytest.fixture
def page(schedule, opened, tmp_path):
    return opened(written(tmp_path, schedule))


def go_to(page, step):
    page.locator(f"{VIEW} [data-is=slot]").fill(str(step))


def step_of(page):
    return int(page.locator(f"{VIEW} [data-is=slot]").input_value())


def listed(page):
    """(row, iteration) of every transfer in the list."""
    lines = page.locator(f"{VIEW} .transfers tbody tr").evaluate_all(
        "lines => lines.map(line => [line.dataset.row, line.dataset.iteration])"
    )
    return {(int(row), int(iteration)) for row, iteration in lines}


def expected(schedule, step):
    found = set()
    for iteration in range(schedule.repeats):
        rows = np.flatnonzero(schedule.step == step - iteration * (schedule.period or 0))
        found |= {(row, iteration) for row in rows.tolist()}
    return found


def choose(page, name, text):
    field = page.locator(f"{VIEW} [data-is={name}]")
    field.fill(text)
    field.press("Enter")


def marked(page):
    """The channels that are marked, each with a head of an arrow."""
    names, heads = page.evaluate(
        """() => [
            [...viewers[0].network.marked.keys()].map((channel) => schedules[0].channelName(channel)),
            [...document.querySelectorAll(".viewer svg.network .heads")].map((one) => one.getAttribute("d").split("M").length - 1),
        ]"""
    )
    assert sum(heads) == len(names)
    return set(names)


def test_ten_random_steps_show_the_transfers_of_the_schedule(page, schedule):
    assert schedule.repeats > 1
    assert schedule.period is not None
    steps = random.Random(18).sample(range(schedule.total_steps), 10)
    for step in steps:
        go_to(page, step)
        assert listed(page) == expected(schedule, step), step
        rows = [row for row, _ in expected(schedule, step)]
        assert marked(page) == {f"{schedule.src[row]}>{schedule.dst[row]}" for row in rows}


def test_ten_random_steps_over_switches(routed, opened, tmp_path):
    page = opened(written(tmp_path, routed))
    for step in random.Random(18).choices(range(routed.total_steps), k=10):
        go_to(page, step)
        assert listed(page) == expected(routed, step)
    words = page.locator(f"{VIEW} .transfers tbody tr").first.inner_text()
    hops = [hop.split(">") for hop in words.split("\t")[-1].split()]
    assert all(here[1] == there[0] for here, there in pairwise(hops)), hops


def test_buttons_and_keys(page, schedule):
    last = schedule.total_steps - 1
    for action, step in (("last", last), ("back", last - 1), ("first", 0), ("forward", 1)):
        page.locator(f"{VIEW} [data-do={action}]").click()
        assert step_of(page) == step
    page.locator(VIEW).focus()
    for key, step in (("End", last), ("ArrowLeft", last - 1), ("Home", 0), ("ArrowRight", 1), ("PageDown", 11), ("PageUp", 1)):
        page.keyboard.press(key)
        assert step_of(page) == step


def test_replay_runs_and_stops(page):
    page.locator(f"{VIEW} [data-is=speed]").select_option("20")
    play = page.locator(f"{VIEW} [data-do=play]")
    play.click()
    page.wait_for_function("document.querySelector('.viewer [data-is=slot]').value >= 5")
    play.click()
    assert play.inner_text() == "▶ play"
    step = step_of(page)
    page.evaluate("new Promise(done => setTimeout(done, 200))")
    assert step_of(page) == step


def test_replay_ends_with_the_schedule(page, schedule):
    go_to(page, schedule.total_steps - 3)
    page.locator(VIEW).focus()
    page.keyboard.press(" ")
    page.wait_for_function("document.querySelector('.viewer [data-do=play]').textContent.includes('play')")
    assert step_of(page) == schedule.total_steps - 1


def test_filters(page, schedule):
    step = schedule.steps // 2
    go_to(page, step)
    everything = expected(schedule, step)
    row = min(everything)[0]
    chunk, src, dst = int(schedule.chunk[row]), int(schedule.src[row]), int(schedule.dst[row])
    choose(page, "chunk", str(chunk))
    assert listed(page) == {one for one in everything if schedule.chunk[one[0]] == chunk}
    page.locator(f"{VIEW} [data-do=clear]").click()
    choose(page, "channel", f"{src} > {dst}")
    assert listed(page) == {one for one in everything if (schedule.src[one[0]], schedule.dst[one[0]]) == (src, dst)}
    page.locator(f"{VIEW}").focus()
    page.keyboard.press("Escape")
    choose(page, "node", str(src))
    assert listed(page) == {one for one in everything if src in (schedule.src[one[0]], schedule.dst[one[0]])}


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("chunk", "9999", "chunks are 0 to"),
        ("chunk", "x", "chunks are 0 to"),
        ("channel", "0>8", "no channel 0>8"),
        ("node", "77", "nodes are 0 to 8"),
    ],
)
def test_unknown_filters_are_named_and_change_nothing(page, name, text, message):
    before = listed(page)
    choose(page, name, text)
    assert message in page.locator(f"{VIEW} .message").inner_text()
    assert listed(page) == before


def test_the_tree_of_a_chunk_grows(page, schedule):
    choose(page, "chunk", "0")
    rows = np.flatnonzero(schedule.chunk == 0)
    sizes = []
    for step in range(0, schedule.steps, 3):
        go_to(page, step)
        if step < schedule.period:  # the oldest iteration is the first one
            done = rows[schedule.step[rows] <= step]
            assert {f"{schedule.src[row]}>{schedule.dst[row]}" for row in done} <= marked(page)
        sizes.append(len(marked(page)))
    go_to(page, schedule.steps - 1)
    assert marked(page) == {f"{schedule.src[row]}>{schedule.dst[row]}" for row in rows}
    assert sizes[0] < sizes[-1]
    assert (schedule.op[rows] == Op.REDUCE).any()


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


def test_contents_lead_to_every_part(schedule, routed, opened, tmp_path):
    """The parts of a valid schedule, and the fewer of one that is not."""
    page = opened(written(tmp_path, schedule, routed))
    leads = page.locator("nav.contents a").evaluate_all("all => all.map(one => one.getAttribute('href').slice(1))")
    assert len(leads) == 10 + 4
    assert all(page.evaluate("(id) => document.getElementById(id) !== null", lead) for lead in leads)
    heads = page.locator("article h2[id]").evaluate_all("all => all.map(one => one.id)")
    assert set(heads) <= set(leads)


def test_loads_that_are_nearly_alike_differ(opened, tmp_path):
    """The shades are those between the least and the greatest share."""
    page = opened(written(tmp_path, ct.synthesize("torus:4x4", method="multitree", size="16MiB")))
    least, most = page.evaluate("[schedules[0].shades.least, schedules[0].shades.most]")
    assert (least, most) == (60, 90)
    page.locator(f"{VIEW} [data-is=load]").check()
    assert page.locator(f"{VIEW} [data-is=network-legend]").inner_text().split("\n")[0].startswith(f"{least} %")


def test_several_schedules_stand_side_by_side(schedule, routed, opened, tmp_path):
    page = opened(written(tmp_path, schedule, routed))
    header = page.locator("#comparison thead th")
    assert header.all_inner_texts() == ["schedule 1", "schedule 2"]
    assert page.locator("#comparison svg.map .channel").count() == 24 + 16
    go_to_second = page.locator(f"{VIEW} [data-is=slot]").nth(1)
    go_to_second.fill("1")
    assert page.locator(f"{VIEW} [data-is=slot]").first.input_value() == "0"


def test_a_schedule_twice_has_no_barriers(routed, opened, tmp_path):
    page = opened(written(tmp_path, routed, routed))
    assert [*barriers(page), *overlaps(page)] == []


def test_an_invalid_schedule_shows_what_is_wrong(opened, tmp_path):
    (tmp_path / "mine.csv").write_text("chunk,op,src,dst,step\n0,reduce,1,0,0\n0,reduce,2,0,0\n0,copy,0,1,1\n0,copy,0,2,0\n")
    page = opened(written(tmp_path, tmp_path / "mine.csv", topology="ring:3", collective="all-reduce"))
    assert "causality" in page.locator(".violations").inner_text()
    assert page.locator("tr.wrong").evaluate_all("lines => lines.map(line => line.dataset.row)") == ["0", "3"]
    page.emulate_media(color_scheme="dark")
    assert [*barriers(page), *overlaps(page)] == []


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


def test_print(page, schedule):
    """All channels are on the printed page, without controls; the screen is as before afterwards."""
    rows = len({*zip(schedule.src.tolist(), schedule.dst.tolist(), strict=True)})
    page.emulate_media(media="print")
    assert not page.locator(f"{VIEW} .controls").first.is_visible()
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate("viewers[0].time.limit >= viewers[0].time.rows * viewers[0].time.height")
    assert page.evaluate("viewers[0].time.rows") == rows
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="screen")
    assert page.locator(f"{VIEW} .controls").first.is_visible()
    assert page.pdf().startswith(b"%PDF")


def test_a_network_that_is_too_large_for_a_picture(opened, tmp_path, monkeypatch):
    monkeypatch.setattr("certree.extras.reports.pictures.ground.MOST_NODES", 3)
    page = opened(written(tmp_path, ct.synthesize("ring:4", method="ring", size="4KiB")))
    assert "4 nodes and 8 channels are too many for a picture of the network" in page.locator(f"{VIEW} .left-out").inner_text()
    assert not page.locator(f"{VIEW} svg.network").is_visible()
    go_to(page, 2)
    assert page.locator(f"{VIEW} .transfers tbody tr").count() == 4


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
    rows = frame.locator(".transfers tbody tr").evaluate_all(
        "lines => lines.map(line => [line.dataset.row, line.dataset.iteration])"
    )
    assert {(int(row), int(iteration)) for row, iteration in rows} == expected(routed, 1)
