"""Simulation of collectives with endpoint costs: the messages of a chunk, the program for the core, the run and its trace.

- `tables`: endpoints of runs of tables
"""
