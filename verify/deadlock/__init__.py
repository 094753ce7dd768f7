"""Deadlock freedom of packets in routers with finite buffers, for routes of any origin.

- `walks`: the channels that packets pass, with the virtual channels that they may take, of schedules, tables and lists of packets
- `graph`: which channels wait for which; a numbering that rules out circles, with a small checker of it, or a circle
- `freedom`: the answer, with its certificate or counterexample and what would repair it
- `layers`: how many virtual channels are enough
- `deadlock_verdicts`: the rules `channel` and `deadlock`, for schedules and tables
"""
