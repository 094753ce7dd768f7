"""All best schedules of a small network, as (chunks, steps, rounds); every other candidate is ruled out by a proof."""

import certree.api as ct

found = ct.frontier("ring:4", "all-gather", max_chunks=2)
print(found.points, "complete" if found.complete else "not complete")
ct.draw(found.schedule((2, 2, 3)), "two-steps.svg", view="trees", force=True)
