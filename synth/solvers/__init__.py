"""The solvers, each behind one module: CP-SAT and CaDiCaL, seeded and with deterministic budgets."""
