"""Specifications of comparisons, and the costs of networks.

- `specification`: networks, collectives, sizes, failures, link speeds and workloads, from a TOML file or from arguments
- `network_costs`: prices and power from a TOML file, `presets` some; `floor_plan`: racks and lengths of cables
- `cells` and `rows`: cells, and their results as rows with units in their names
- `bill`: the parts of a network, their cost and power
- `structure`: diameter and paths; `bisection`: the least cut into halves
"""
