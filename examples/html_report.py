"""Pictures of a schedule, and a self-contained HTML report with an interactive view."""

import certree.api as ct

schedule = ct.synthesize("mesh:3x3", method="packing", size="64KiB")
ct.draw(schedule, "load.svg", view="load", force=True)
ct.draw(schedule, "channels.svg", view="spacetime", force=True)
ct.report(schedule, "report.html", published=False, force=True)
