"""Reports in a browser: steps, replay, filters, keys, clicks, comparison, print."""

import random
from itertools import pairwise

import numpy as np
import pytest

from certree.models.schedule.schedule_columns import Op
from tests.browser.looked_at import barriers, overlaps
from tests.browser.views import VIEW, expected, go_to, listed, written


@pytest.fixture
def page(schedule, opened, tmp_path):
    return opened(written(tmp_path, schedule))


def step_of(page):
    return int(page.locator(f"{VIEW} [data-is=slot]").input_value())


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


def test_contents_lead_to_every_part(schedule, routed, opened, tmp_path):
    """The parts of a valid schedule, and the fewer of one that is not."""
    page = opened(written(tmp_path, schedule, routed))
    leads = page.locator("nav.contents a").evaluate_all("all => all.map(one => one.getAttribute('href').slice(1))")
    assert len(leads) == 10 + 4
    assert all(page.evaluate("(id) => document.getElementById(id) !== null", lead) for lead in leads)
    heads = page.locator("article h2[id]").evaluate_all("all => all.map(one => one.id)")
    assert set(heads) <= set(leads)


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
