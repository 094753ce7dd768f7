"""Endpoints: collectives with what they cost where they start and end.

- `model`: parameters of buses, accelerators and engines, with presets; the trace of a run
- `run`: from a schedule to the messages of a chunk, the program for the simulator's core, and its run; tables with endpoints
- `formats`, tables with what must come before a message; `check`: traces of engines as behaviours of the specification, lower bounds
- `command`: endpoints, and the bounds of bound --endpoint
"""
