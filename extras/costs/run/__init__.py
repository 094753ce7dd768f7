"""Cost models: `costing` of schedules and methods, `flow_timing` of flows that share links, `fitting` to measured
times, `host`: benchmarks on this computer."""
