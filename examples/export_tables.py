"""Tables for network interfaces: written, read back, verified on their own, and simulated cycle by cycle."""

import shutil

import certree.api as ct

shutil.rmtree("tables", ignore_errors=True)
tables = ct.export(ct.synthesize("mesh:2x2", size="64KiB"), "json", "tables")
assert ct.verify("tables").valid
run = ct.simulate(tables)
print(f"{run.cycles:,} cycles, {run.closed_form_cycles:,} predicted, {run.contention_cycles} of contention; right: {run.data_ok}")
ct.draw(tables, "interfaces.svg", view="spacetime", force=True)
