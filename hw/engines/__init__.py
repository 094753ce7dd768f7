"""Engines that run tables, or schedules that have none; `certree.hw.run` picks one.

- `runs`: what a run is asked for and what it showed; `engine`: what engines have in common; `lanes` (event by event, or flit by
  flit) and `flit` (routers): the engines; `transparency`: whether routers add anything to lanes
- `program`, `table_rows`, `schedule_rows`: what an engine is given; `schedule_run`: schedules without tables, and in parts
- `clocks`, `framing`: start times and packets; `traces`: what a run writes
"""
