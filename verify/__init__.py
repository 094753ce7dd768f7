"""The verifier: it recomputes everything, and imports no synthesis method and no simulator.

- `checker`: a schedule in, a verdict out (`verdict`, `wording`)
- `rule`: the registries of rules and of the functions that check them
- `rules`: the rules for transfers, one concern per file
- `bounds`: lower bounds and their witnesses; `certificates`: what is proved of one schedule
- `tables`: the rows of network interfaces
- `exact`: questions of existence on small networks, and refutations; `frontier`: whole frontiers with their evidence
- `tla`: the TLA+ models, tables and traces checked with TLC, and the symbolic proof
"""
