"""Endpoints: collectives with what they cost where they start and end.

- `model`: parameters of buses, accelerators and engines, with presets; the trace of a run
- `run`: from a schedule to the messages of a chunk, the program for the simulator's core, and its run; tables with endpoints
- `check`: traces of engines as behaviours of the specification, lower bounds
- `formats`: tables with the order of uses of cells, for those who build endpoints
- `command`: endpoints, and the bounds of bound --endpoint
"""
