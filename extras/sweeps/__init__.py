"""Sweeps: many schedules at once.

- `run`: compare, by cycles, of methods at several sizes; every combination of networks, collectives, sizes, methods and more, each
a cell of a table
- `tuning`: the best schedule for each range of message sizes
- `command`: compare, sweep, tune
"""
