"""The page of designs in a browser: charts, hover, linked selection, dark mode, and texts that keep apart."""

import pytest

import certree.api as ct

NAMES = ("ring:4", "full:4")


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page") / "out"
    ct.designs({"networks": list(NAMES), "sizes": ["1KiB", "1MiB"], "method": "multitree"}, folder, workers=1)
    return folder / "index.html"


@pytest.fixture
def page(written, opened):
    return opened(written)


def lit(page):
    """Networks that are lit, in all parts of the page."""
    return set(page.eval_on_selector_all(".network.lit", "found => found.map(one => one.dataset.network)"))


def test_charts_have_a_curve_for_each_network(page):
    assert page.locator("#charts svg").count() == 5
    assert page.locator("#charts g.series").count() == 10
    assert page.locator("#charts circle").count() == 4 * 2 * 2


def test_networks_are_drawn_with_a_command_for_the_view(page):
    drawn = page.eval_on_selector_all(".drawings img", "found => found.map(one => one.complete && one.naturalWidth > 100)")
    assert drawn == [True, True]
    command = "certree synthesize ring:4 --collective all-reduce --method multitree --size 1048576 -o S.json"
    assert page.locator(".drawings code").first.inner_text() == f"{command} && certree draw S.json -o S.html"


def test_a_mark_tells_its_numbers(page):
    page.locator("#charts circle").first.hover()
    words = page.locator("#tip").inner_text().splitlines()
    assert words[:2] == ["ring:4", "1 KiB"]
    assert words[2].startswith("busbw, GB/s: 1.")
    page.locator("h1").hover()
    assert page.locator("#tip").is_hidden()


def test_pointing_and_clicking_light_a_network_everywhere(page):
    button = page.locator("nav button").nth(1)
    button.hover()
    assert lit(page) == {"full:4"}
    assert page.locator("#charts svg.some").count() == 5
    page.locator("h1").hover()
    assert lit(page) == set()
    button.click()
    page.locator("h1").hover()
    assert lit(page) == {"full:4"}
    assert button.get_attribute("aria-pressed") == "true"
    assert page.locator("#charts g.series.lit").count() == page.locator("#charts svg").count()
    page.locator("li.network").first.click()  # full:4 is first
    page.locator("h1").hover()
    assert lit(page) == set()


def test_dark_mode(page):
    ground = "getComputedStyle(document.body).backgroundColor"
    before = page.evaluate(ground)
    page.locator("#dark").click()
    after = page.evaluate(ground)
    assert {before, after} == {"rgb(255, 255, 255)", "rgb(18, 25, 31)"}
    page.locator("#dark").click()
    assert page.evaluate(ground) == before


def test_texts_of_charts_keep_apart(page):
    pairs = page.evaluate("""() => [...document.querySelectorAll("#charts svg")].flatMap((svg) => {
        const boxes = [...svg.querySelectorAll("text")].map((one) => [one.textContent, one.getBoundingClientRect()]);
        return boxes.flatMap(([a, x], index) => boxes.slice(index + 1).filter(([, y]) =>
            x.left + 1 < y.right && y.left + 1 < x.right && x.top + 1 < y.bottom && y.top + 1 < x.bottom).map(([b]) => [a, b]));
    })""")
    assert pairs == []
