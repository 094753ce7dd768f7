"""The cells of a comparison of designs.

- `plan`: all cells and their tasks; `scaling`: networks and machines with faster links and longer latencies
- `training_cell`: an iteration of a workload, on a worker; `viewing`: a cell with the interactive view of its schedule
- `running`: designs, and what its folder holds
"""
