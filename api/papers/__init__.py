"""Figures and tables of the papers, and certree's own comparisons.

- `target`: TOML configurations, in `targets`; `experiment`: tasks and cells; `experiments`: one file per kind
- `reproduction`: the cells of a target on worker processes; `gallery`, `examples`: worked examples
"""
