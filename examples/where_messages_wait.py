"""A run without time slots: where messages wait for each other, in cycles."""

import certree.api as ct

schedule = ct.synthesize("torus:3x3", method="cps", size="64KiB")
run = ct.simulate(schedule, run="paced")
print(f"{run.cycles:,} cycles; messages waited for channels {run.contention_cycles:,} cycles, all counted")
ct.draw(schedule, "waits.svg", view="waits", run="paced", force=True)
