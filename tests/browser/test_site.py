"""Pages of the site that `make docs` wrote: no errors, no barriers, no texts on texts, wide and narrow, light and dark."""

import functools
import http.server
import threading
from pathlib import Path

import pytest

from tests.browser.conftest import Watched
from tests.browser.looked_at import barriers, is_too_wide, overlaps

SITE = Path(__file__).parents[2] / "build" / "site"
PAGES = sorted(path.relative_to(SITE).as_posix() for path in SITE.rglob("*.html"))
PICTURES = sorted(path.relative_to(SITE).as_posix() for path in SITE.rglob("*.svg") if "assets" not in path.parts)
MOST_BYTES = 15_000_000
LOOKS = ((1280, "light"), (390, "dark"), (1280, "dark"), (390, "light"))
#: every form of page once: home, cards, tables, programs, an entry with a page in it, and the pages that commands write
FEW = (
    "index.html",
    "gallery/index.html",
    "gallery/html_report.html",
    "benchmarks/index.html",
    "tutorials/first-schedule.html",
    "gallery/html_report/report.html",
    "gallery/training_time/training.html",
    "gallery/compare_designs/index.html",
)


def wrong_on(browser, pages, width, scheme):
    """What is wrong with each page."""
    found = {}
    for name in pages:
        watched = Watched(browser, width, scheme)
        watched.page.goto((SITE / name).as_uri())
        wrong = [*watched.wrong, *barriers(watched.page), *overlaps(watched.page)]
        if is_too_wide(watched.page):
            wrong.append("wider than its window")
        watched.page.close()
        if wrong:
            found[name] = wrong
    return found


def test_the_site_is_there_and_small():
    assert PAGES, "the site is not built: make docs"
    assert sum(path.stat().st_size for path in SITE.rglob("*") if path.is_file()) < MOST_BYTES


@pytest.mark.parametrize(("width", "scheme"), LOOKS[:2])
def test_a_page_of_every_form(browser, width, scheme):
    assert wrong_on(browser, FEW, width, scheme) == {}


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
def test_every_page(browser, width, scheme):
    assert wrong_on(browser, (name for name in PAGES if name != "404.html"), width, scheme) == {}


def test_texts_on_texts_are_found(browser):
    watched = Watched(browser)
    watched.page.set_content("<svg><text x=0 y=20>one text</text><text x=9 y=24>another</text><text x=0 y=60>apart</text></svg>")
    assert overlaps(watched.page) == ["one text | another"]
    watched.page.close()


def test_texts_of_pictures_keep_apart(browser):
    found = {}
    watched = Watched(browser)
    for name in PICTURES:
        watched.page.set_content((SITE / name).read_text())
        found[name] = overlaps(watched.page)
    watched.page.close()
    assert PICTURES
    assert {name: pairs for name, pairs in found.items() if pairs} == {}


def searched(page):
    """The titles that a search for a word finds."""
    query, found = page.locator("[data-md-component=search-query]"), page.locator(".md-search-result__item h1")
    query.click()
    query.press_sequentially("frontier")
    found.first.wait_for()
    return found.all_inner_texts()


@pytest.fixture
def served():
    """The address of the site over http."""
    quiet = type("Quiet", (http.server.SimpleHTTPRequestHandler,), {"log_message": lambda *_: None})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(quiet, directory=SITE))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_search_from_disk_and_over_http_finds_the_same(browser, served):
    found = []
    for address in (SITE.as_uri(), served):
        watched = Watched(browser)
        watched.page.goto(f"{address}/index.html")
        found.append(searched(watched.page))
        assert [one for one in watched.wrong if not one.startswith(address)] == []
        watched.page.close()
    assert found[0] == found[1]
    assert "Frontiers of small networks" in found[0]


def test_a_page_that_is_not_there(browser, served):
    watched = Watched(browser)
    watched.page.goto(f"{served}/404.html")
    assert watched.page.locator("h1").inner_text().startswith("404")
    assert barriers(watched.page) == []
    watched.page.close()


def test_dark_mode_is_kept(browser):
    watched = Watched(browser)
    watched.page.goto((SITE / "index.html").as_uri())
    ground = "getComputedStyle(document.body).backgroundColor"
    light = watched.page.evaluate(ground)
    watched.page.locator("label[title='Dark mode']").click()
    dark = watched.page.evaluate(ground)
    watched.page.goto((SITE / "glossary.html").as_uri())
    assert watched.page.evaluate(ground) == dark != light
    watched.page.close()
    assert watched.wrong == []
