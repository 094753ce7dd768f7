"""What tests of reports and of the interactive view share: pages that are written, and what a view shows."""

import numpy as np

import certree.api as ct

VIEW = ".viewer"


def written(folder, *schedules, **options):
    path = folder / "report.html"
    ct.report(list(schedules), path, published=False, simulate=False, force=True, **options)
    return path


def go_to(page, step):
    page.locator(f"{VIEW} [data-is=slot]").fill(str(step))


def listed(page):
    """(row, iteration) of every transfer in the list; `page`: or a frame."""
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
