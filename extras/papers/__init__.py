"""Papers: their figures and tables, computed again, and certree's own comparisons.

- `target`: TOML configurations, in `targets`; `experiment`: tasks and cells; `experiments`: one file per kind
- `reproduction`: the cells of a target on worker processes; `gallery`, `examples`: worked examples
- `scorecard`: a line for each figure, table, equation and claim, with checks of what no target computes
- `authors`: the simulator of the MultiTree authors; `command`: reproduce, gallery
"""
