"""Training workloads: layers with compute cycles and collectives, and the loops that run them.

- `workload`: layers, their parts, loops; `workload_file`: TOML files and the workloads in `presets`
- `accelerators`: how long an accelerator computes a layer, from its shape
- `chakra_trace`: traces of Chakra
- `placement`: the endpoints of groups of ranks
- `imports`: tables of SCALE-Sim and texts of ASTRA-sim 1.0; `transformer`: a transformer by formula
- `passes`: the order of computing, asking and waiting; `queue`: collectives that share a network; `training`: the two together
"""
