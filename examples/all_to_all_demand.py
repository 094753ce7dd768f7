"""An all-to-all in which endpoints have unequal amounts for each other."""

import certree.api as ct

amounts = [[0, 4096, 256, 256], [512, 0, 512, 512], [256, 256, 0, 8192], [1024, 256, 256, 0]]
demand = ct.demand(amounts, "full:4")
schedule = ct.synthesize("full:4", ct.collective("alltoallv", demand=demand))
print(ct.verify(schedule), ct.simulate(schedule).cycles)
ct.draw(schedule, "demand.svg", view="load", force=True)
