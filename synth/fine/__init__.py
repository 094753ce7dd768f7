"""Schedules with fine slots from programs: the reads, writes, order and links of each transfer.

- `program`: transfers in stages, and a schedule as a program; `order`: which transfers wait for which
- `booking`: programs for the list scheduler (`certree.models.fine.list_scheduler`), and lower bounds on their cycles
- `fine_schedule`: the best of several orders
- `search`: orders of blocks by local search; `turned`: one row for each block, where all nodes do the same
- `routes`: shortest routes that load links evenly
"""
