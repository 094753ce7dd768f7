"""A Chromium of the system, without a window; every page is watched for errors and for requests to anywhere."""

import shutil
from typing import Literal

import pytest
from playwright.sync_api import Browser, sync_playwright

import certree.api as ct

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@pytest.fixture(scope="session")
def browser():
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        pytest.fail("the browser tests need Chromium: apt-get install chromium (.ci/run does so)", pytrace=False)
    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield started
        started.close()


class Watched:
    """A page of a browser, and everything that went wrong on it."""

    def __init__(self, browser: Browser, width: int = 1300, scheme: Literal["light", "dark"] = "light") -> None:
        self.page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        self.wrong: list[str] = []
        self.page.on("console", lambda message: self.wrong.append(message.text) if message.type in ("error", "warning") else None)
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("request", lambda request: self.wrong.append(request.url) if self.is_elsewhere(request.url) else None)

    @staticmethod
    def is_elsewhere(url: str) -> bool:
        return not url.startswith(("file:", "data:"))


@pytest.fixture
def opened(browser):
    """Opens files; at the end of the test there were no errors, and no requests to anywhere else."""
    watched = []

    def open_page(path):
        watched.append(Watched(browser))
        watched[-1].page.goto(path.resolve().as_uri())
        return watched[-1].page

    yield open_page
    for one in watched:
        one.page.close()
        assert one.wrong == []


@pytest.fixture(scope="session")
def schedule():
    """Iterations overlap: prologue, steady state and epilogue."""
    return ct.synthesize("mesh:3x3", method="packing", size="256KiB")


@pytest.fixture(scope="session")
def routed():
    """Messages over switches, in steps of several rounds."""
    return ct.synthesize("fattree:2x2", method="cps", size="16KiB", options={"rounds": "published"})
