"""Sweeps: every combination of networks, collectives, sizes, methods and more, each a cell on a worker.

- `specification`: what the TOML file says, `example.toml` one; `wanted`: its collectives
- `faults`: failed links, drawn at random; `plan`: the cells and their keys
- `comparison`: compare; `measure`: one cell; `running`: sweep, and what its folder holds; `estimate`: time before it runs
- `table`: the results as rows, CSV and Parquet; `figures`: plots by axis
"""
