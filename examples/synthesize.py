"""A schedule for a network, with the certificate that says how far it is from the best possible."""

import certree.api as ct

schedule = ct.synthesize("torus:4x4", "all-reduce", size="1MiB")
verdict = ct.verify(schedule)
print(schedule)
print(verdict)
print([(bound["kind"], bound["value"]) for bound in schedule.certificate["bounds"]])
ct.save(schedule, "torus.json", force=True)
ct.draw(schedule, "trees.svg", view="trees", chunks=range(4), force=True)
ct.draw(schedule, "step_by_step.html", force=True)
