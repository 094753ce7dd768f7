"""Messages in routers, flit by flit.

- `packets`: the packets of a schedule, and those that may wait for each other
- `model`: TLC on their groups
"""
