"""Messages in routers, flit by flit.

- `waiting_packets`: the packets of a schedule, and those that may wait for each other
- `model`: TLC on their groups
"""
