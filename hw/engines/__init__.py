"""Engines that run tables, or schedules without tables; `certree.hw.run` selects one.

- `runs`: options and results of runs; `engine`: the common base of engines; `lanes` (event by event, or flit by flit) and `flit`
  (routers): the engines; `transparency`: whether routers change the results of lanes
- `program`, `table_rows`, `schedule_rows`: the input of an engine; `schedule_run`: schedules without tables, and in parts
- `framing`: packets; `traces`: traces of runs
"""
