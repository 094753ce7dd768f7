"""The solvers, each behind one module, seeded and with deterministic budgets.

- `back_end`: the interface of solvers of formulas; `cadical`, `cpsat_formulas`, `z3_formulas`: the three of them
- `cpsat`: CP-SAT for models of its own
"""
