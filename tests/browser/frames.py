"""Frames a second of the interactive view in a browser: `python -m tests.browser.frames FILE.html…`, pages of `report`.

Chromium without a window draws by software. Each frame shows another step, or another part of the rounds, and waits until it is
painted.
"""

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.browser.conftest import NAMES

FRAMES = 30
#: what moves -> the script of frame number `frame`
MOVES = {
    "steps": "view.goTo(frame)",
    "steps of chunk 0": "view.goTo(frame)",
    "rounds": "(view.time.moveTo(frame * 3), view.time.draw())",
    "network": "view.network.zoom(frame % 2 ? 1.2 : 1 / 1.1)",
}
_PLAYED = """async ([frames, chunk, shares]) => {
    const view = viewers[0];
    view.set({ chunk, aggregate: shares && Boolean(view.schedule.aggregate), slot: 0 });
    const painted = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    await painted();
    const start = performance.now();
    for (let frame = 0; frame < frames; frame++) {
        MOVE;
        await painted();
    }
    return (1000 * frames) / (performance.now() - start);
}"""


def run(pages: list[str]) -> None:
    """A line for each page, what moves, and what is shown over time."""
    with sync_playwright() as driver:
        path = next(found for name in NAMES if (found := shutil.which(name)))
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        for name in pages:
            page = browser.new_page(viewport={"width": 1300, "height": 900})
            page.goto(Path(name).resolve().as_uri())
            count = page.evaluate("[schedules[0].count, schedules[0].nodes.length]")
            for moves, script in MOVES.items():
                for shares in (False, True):
                    chunk = 0 if "chunk" in moves else None
                    rate = page.evaluate(_PLAYED.replace("MOVE", script), [FRAMES, chunk, shares])
                    over_time = "shares" if shares else "channels"
                    print(
                        f"{name}: {count[0]} transfers, {count[1]} nodes, {moves}, {over_time}: {rate:.1f} frames a second",
                        flush=True,
                    )
            page.close()
        browser.close()


if __name__ == "__main__":
    run(sys.argv[1:])
