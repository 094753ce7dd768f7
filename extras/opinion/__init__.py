"""A second opinion on schedules: a checker of its own in plain Python, next to that of the kernel.

- `extra.py`: what this extra adds to the kernel
- `check`: a schedule as plain numbers (`plain_schedule.py`), links (`on_links.py`), cells (`in_cells.py`), fine slots
  (`in_cycles.py`), and the opinion (`second_opinion.py`)
- `command`: the answer of `certree verify --second-opinion`
"""
