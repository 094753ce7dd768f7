"""Figures and tables of the papers, and certree's own comparisons.

- `target`: the TOML file that says what runs, in `targets`; `experiment`: cells and plots; `experiments`: one file per kind
- `workers`: cells in processes; `plots`; `fields`: fields of target files
- `gallery`, `examples`: worked examples; `matrix`, `certified`: tables of every method on every network
"""
