"""Figures and tables of the papers, and certree's own comparisons.

- `target`: TOML configurations, in `targets`; `experiment`: tasks and cells; `experiments`: one file per kind
- `workers`: cells in processes; `fields`: fields of target files; `gallery`, `examples`: worked examples
"""
