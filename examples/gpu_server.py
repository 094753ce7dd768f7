"""All-gather in a DGX-1, eight GPUs joined by NVLinks: the schedule, its time, and how busy each cable is."""

import certree.api as ct

schedule = ct.synthesize("dgx1", "all-gather", method="packing", size="16MiB")
run = ct.simulate(schedule)
print(f"{run.cycles:,} cycles for {schedule.transfers} transfers; bound {ct.bound('dgx1', 'all-gather').bandwidth} M/B")
ct.draw(schedule, "server.svg", view="load", force=True)
ct.draw(schedule, "step_by_step.html", force=True)
