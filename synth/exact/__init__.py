"""Exact synthesis on small networks.

- `frontier_search`: all points with proofs; `asking`: its questions to a solver, in this process or another one
- `refuter`: proofs without search; `price_search`: link prices; `fewest_steps_search`: one step less refuted;
  `optimum_search`: a better schedule, or none; `fewest_cycles_search`: a faster one with fine slots, or none
- `encodings`: the constraint models; `seeds`: schedules to start from, those of published algorithms and others;
  `symmetry_seeds`: from symmetries
"""
