"""Sweeps: every combination of networks, collectives, sizes, methods and more, each a cell on a worker.

- `specification`: what the TOML file says, `example.toml` one; `wanted`: its collectives
- `faults`: failed links, drawn at random; `plan`: the cells and their keys
- `comparing`: methods side by side; `measure`: one cell; `cells`: many on workers, each kept when it is done
- `running`: sweep, and what its folder holds; `estimate`: time before it runs
- `results`: rows as CSV, Parquet and DataFrames; plots by axis; methods that were compared
"""
