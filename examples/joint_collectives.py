"""Two broadcasts at once on one ring, in one schedule in which no messages meet."""

import certree.api as ct

pair = [ct.Entry("weights", ct.collective("broadcast", 0), 1024), ct.Entry("batch", ct.collective("broadcast", 3), 1024)]
made = ct.joint("ring:6", pair)
print(f"{made.cycles} cycles at once, {made.provenance['one_after_the_other_cycles']} one after the other")
ct.draw(made, "joint.svg", force=True)
