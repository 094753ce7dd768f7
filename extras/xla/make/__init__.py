"""Lowering of a schedule to a permute program, and to StableHLO.

- `permutes`: the rows of every device, and what it sends and applies in each step
- `levels`: fewer steps for schedules in fine slots
- `stretches`: consecutive steps with the same permutes; `matchings`: few permutes for the messages of a step
- `lowered`: StableHLO, made by JAX in a process of its own, which is `lowering_child`
"""
