"""Packets through a network of routers, flit by flit."""

import certree.api as ct

print(ct.inject("mesh:4x4", ct.Traffic(cycles=2000, warmup=500, flits=4)))
