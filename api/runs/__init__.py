"""Runs beside that of a schedule: `injection` of packets, `aggregation` in switches, `endpoints` with their buses and engines."""
