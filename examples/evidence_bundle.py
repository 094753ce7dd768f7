"""A schedule with all its evidence in one file, and the check of every item."""

import certree.api as ct

ct.bundle(ct.synthesize("ring:4", size="1MiB"), "ring.certree", tla=False, force=True)
for item in ct.verify("ring.certree").items:
    print(f"{item.name}: {item.status}: {item.text}")
ct.draw("ring.certree", "bundled.svg", view="bound", force=True)
