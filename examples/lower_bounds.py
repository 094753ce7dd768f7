"""Lower bounds that hold for any schedule, each with a witness that was checked again by exact counting."""

import certree.api as ct

bounds = ct.bound("mesh:8x8", size="1MiB")
print(f"bandwidth time at least {bounds.bandwidth} M/B, steps at least {bounds.latency}, {bounds.time_cycles:,} cycles at least")
for bound in bounds.bounds:
    print(f"  {bound['quantity']} {bound['value']} by {bound['kind']}")
ct.draw(bounds, "witness.svg", force=True)
