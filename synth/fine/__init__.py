"""Schedules with fine slots from programs: what each transfer reads and writes, in which order, and along which links.

- `program`: transfers in stages, and a schedule as a program; `order`: what has to wait for what
- `booking`: programs for the list scheduler (`certree.models.fine.list_scheduler`), and the least that they take
- `fine_schedule`: the best of several orders
- `search`: orders of blocks by local search; `turned`: one row for each block, where all nodes do the same
- `routes`: shortest routes that load links evenly
"""
