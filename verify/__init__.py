"""The verifier: recomputes everything from the schedule; imports no synthesis method and no simulator.

- `checker`: a schedule in, a verdict out (`verdict`, `wording`)
- `rule`: the registries of rules and of the functions that check them
- `rules`: the rules for transfers, one topic per file
- `bounds`: lower bounds and their witnesses; `certificates`: the bounds and claims proved for one schedule
- `tables`: the rows of network interfaces
- `order`: whether the data are right at any timing, or only while no message is late
- `deadlock`: freedom from deadlock in routers with finite buffers
- `exact`: existence questions on small networks, and refutations; `frontier`: complete frontiers with their proofs
"""
