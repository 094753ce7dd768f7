"""Networks as their families are drawn: groups of routers, levels of a tree, a box with its switches, damage in dashes."""

import certree.api as ct

for name, network in {
    "dragonfly": "dragonfly:4x2x2",
    "fat-tree": "fattree:4x4",
    "box": "h100",
    "torus": "torus:4x4,without-link=5-6",
}.items():
    print(f"{network}: diameter {ct.describe(network)['diameter']}")
    ct.draw(network, f"{name}.svg", force=True)
