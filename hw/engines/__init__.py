"""Engines that run tables, or schedules without tables; `certree.hw.run` selects one.

- `runs`: options and results of runs, models of endpoints among them; `engine`: the common base of engines; `lane_engines` (event
  by event, or flit by flit) and `flit` (routers): the engines; `router_transparency`: whether routers change the results of lanes
- `core_program`, `table_rows`, `schedule_rows`: the input of an engine; `schedule_run`: schedules without tables, and in parts
- `table_framing`: packets; `traces`: traces of runs; `stated_order`: whether operands are added in the order of their slots
"""
