"""Engines that run tables, or schedules that have none.

- `simulator`: lanes, flit by flit or event by event; `flit`: routers
- `program`, `table_rows`, `schedule_rows`, `schedule_run`: what an engine is given; `clocks`, `framing`: start times and packets
- `split_runs`: paced runs in parts; `transparency`: whether routers add anything; `traces`: what a run writes
"""
