"""Hardware: schedule tables in and out, and the cycle-accurate simulators.

- `run`: selects and runs an engine; `engines`: lanes and routers, and their common parts; `switching`: new tables during runs
- `golden`: traces of runs, for those who build interfaces
- `tables`: from schedules to rows, and tables directories; `formats`: the files that rows are written to
- `routers`: the router network alone
- `rtl` (SystemVerilog, no package): the reference network interface (`certree_ni.sv` and its modules for `rows`, `messages` and
  `arrivals`), its assertions in `properties`, and its testbench in `bench`
- `core`: the C++ core, those of endpoints and of reducing switches included; `core_calls`: calls of it
"""
