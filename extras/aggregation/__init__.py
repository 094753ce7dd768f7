"""All-reduces in the switches of a network, packet by packet: windows, aggregators, loss (NetReduce).

- `model`: the trace of a run
- `run`: trees in switches, routes of packets, and the run in the simulator's core
- `check`: traces as behaviours of the specification
- `command`: aggregate
"""
