"""Rules for the transfers of a schedule.

- `wiring`: self, link, write-conflict; `contention`: capacity, period; `shares`: targets and shares
- `demand_rules`: chunks that differ in size
- `buffers`: in-flight; `fine_slots`: reserved, waiting, overloaded
- `semantics`: not-held, duplicate, original-lost, missing, overwritten, causality, from `contributions` (what each cell holds),
  `obligations` (what it owes) and `history` (one chunk executed again to explain a violation)
- `tree_proof`: a short proof for schedules along trees; `symmetry_rules`: schedules stored as a base and a group
"""
