"""What is wrong with a page that is open in a browser: barriers that axe-core finds, texts on texts, too much width."""

from pathlib import Path

import axe_playwright_python
from playwright.sync_api import Page

_AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text()
#: texts as boxes, each cut to what the parts around it show of it; those over others by two pixels or more in both directions
_OVERLAPS = """() => {
    const boxes = [];
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const pinned = (one) => one && (["fixed", "sticky"].includes(getComputedStyle(one).position) || pinned(one.parentElement));
    for (let text = texts.nextNode(); text; text = texts.nextNode()) {
        const inside = text.parentElement;
        const seen = inside.checkVisibility({ opacityProperty: true, visibilityProperty: true });
        if (!text.data.trim() || !seen || pinned(inside)) continue;
        const range = document.createRange();
        range.selectNodeContents(text);
        for (const { left, right, top, bottom } of range.getClientRects()) {
            const box = { left, right, top, bottom, text, words: text.data.trim().slice(0, 40) };
            for (let one = inside; one; one = one.parentElement) {
                if (one instanceof SVGElement || one === document.documentElement) continue;
                if (getComputedStyle(one).overflow === "visible") continue;
                const shown = one.getBoundingClientRect();
                box.left = Math.max(box.left, shown.left);
                box.right = Math.min(box.right, shown.right);
                box.top = Math.max(box.top, shown.top);
                box.bottom = Math.min(box.bottom, shown.bottom);
            }
            if (box.right - box.left > 1 && box.bottom - box.top > 1) boxes.push(box);
        }
    }
    boxes.sort((a, b) => a.top - b.top);
    const found = [];
    boxes.forEach((a, index) => {
        for (let next = index + 1; next < boxes.length && boxes[next].top + 2 < a.bottom; next++) {
            const b = boxes[next];
            if (a.text === b.text && a.top === b.top) continue; // one line that ends in dots
            const deep = Math.min(a.bottom, b.bottom) - b.top;
            if (a.left + 2 < b.right && b.left + 2 < a.right && 3 * deep > Math.min(a.bottom - a.top, b.bottom - b.top)) {
                found.push(`${a.words} | ${b.words}`);
            }
        }
    });
    return found;
}"""
_BARRIERS = """async () => {
    const found = await axe.run(document, { preload: false, iframes: false, resultTypes: ["violations"] });
    return found.violations.map((one) => `${one.id}: ${one.nodes[0].html.slice(0, 200)} (${one.nodes.length} in all)`);
}"""


def barriers(page: Page) -> list[str]:
    """Violations that axe-core reports, by its rules for WCAG and good practice; frames apart, which are pages of their own."""
    page.evaluate(_AXE)
    return page.evaluate(_BARRIERS)


def overlaps(page: Page) -> list[str]:
    """Pairs of texts of which one is drawn over the other, on a third of its height."""
    return page.evaluate(_OVERLAPS)


def is_too_wide(page: Page) -> bool:
    """Whether the page, and not only a part of it, has to be moved sideways."""
    return page.evaluate("document.documentElement.scrollWidth > window.innerWidth")
