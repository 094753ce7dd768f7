"""Runs: `simulation` of schedules and tables, `model_checks` by TLC, `injection` of packets, `aggregation` in switches;
`trace_kinds`: traces that extras check; `runnable`: from a schedule to what is run; `stated_orders`: the order of
additions that tables state; and `deadlocks`: whether runs through routers can deadlock."""
