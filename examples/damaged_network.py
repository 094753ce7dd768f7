"""One network: undamaged, with a failed link, and with a slow link."""

import certree.api as ct

for network in ("mesh:4x4", "mesh:4x4,without-link=5-6", "mesh:4x4,link-capacity=5-6:1/2"):
    bounds = ct.bound(network)
    schedule = ct.synthesize(network, size="1MiB")
    print(f"{network}: at best {bounds.bandwidth} M/B; {ct.simulate(schedule).cycles:,} cycles")
ct.draw(schedule, "damaged.svg", view="load", force=True)
ct.draw(schedule, "step_by_step.html", force=True)
