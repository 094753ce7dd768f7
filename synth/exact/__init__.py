"""Exact synthesis on small networks.

- `frontier`: all points with proofs; `asking`: what it asks a solver, here or elsewhere
- `refuter`: proofs without search; `prices`: link prices; `fewest_steps`: one step less refuted
- `encodings`: the constraint models; `published`: schedules of published algorithms to start from
"""
