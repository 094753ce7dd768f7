"""Synthesis of schedules for a topology and a collective, and the search for lower bounds.

- `method`: requests, options and the registry; `monitor`: progress and the best schedule so far
- `price`, `candidate_prices`: the work and the least cycles of a candidate before it is built, and the budget of a choice
- `methods`: the algorithms, one file each, and the automatic choice
- `packing`: trees at the best rate, and their slots; `ranks`: algorithms written for ranks, embedded in a network
- `fine`: list scheduling in cycles, and the programs that it takes
- `flows`: paths and slots for blocks with one source and one target
- `symmetric`: schedules that a group maps to themselves; `phases`: reversal of a phase
- `exact`: constraint encodings and frontiers
- `filling`: published algorithms several times at once on wide links
- `deadlock_free_routes`: layers, or other routes, where routes would deadlock; `rounds`: the length of steps
- `bounds`: witnesses of lower bounds; `graphs`: cuts, link lengths, cycles; `solvers`: CP-SAT and CaDiCaL; `native`: C++ kernels
"""
