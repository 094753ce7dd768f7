"""A program for a communication runtime: exported, executed symbolically, and read back as a schedule."""

import certree.api as ct

ct.export_program(ct.synthesize("ring:4", size="1MiB"), "msccl-xml", "ring.xml", force=True)
print(ct.verify("ring.xml"))
schedule = ct.import_program("ring.xml", "ring:4")
print(schedule)
ct.draw(schedule, "program.svg", view="spacetime", force=True)
