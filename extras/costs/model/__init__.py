"""Cost models of the literature: exact rationals, units in every name.

- `cost_model`: the common interface; `formulas`: the models, one file each; `presets`: their parameters
- `counting`, `profile`, `link_kinds`: counts of a schedule in their terms; `optimality`: lower bounds by GenTree's theorems
- `flows`: GenModel on a network with shared links; `fitting`: parameters from measured times; `hardware`: area and power
"""
