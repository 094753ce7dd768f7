"""Runs: `simulation` of schedules and tables, `injection` of packets, `aggregation` in switches, `endpoints` with their engines."""
