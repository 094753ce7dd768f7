"""Runs: `simulation` of schedules and tables, `injection` of packets; `runnable`: from a schedule to what is run;
`stated_orders`: the order of additions that tables state; and `deadlocks`: whether runs through routers can deadlock."""
