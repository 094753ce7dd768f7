"""Rules for the transfers of a schedule.

- `wiring`: self, link, write-conflict; `contention`: capacity, period; `shares`: targets and shares
- `demand`: chunks that differ in size
- `buffers`: in-flight; `fine_slots`: reserved, waiting, overloaded
- `semantics`: not-held, duplicate, original-lost, missing, overwritten, causality, from `contributions` (what each cell holds),
  `obligations` (what it owes) and `history` (one chunk executed again to explain a violation)
- `trees`: a short proof for schedules along trees; `symmetry`: schedules stored as a base and a group
"""
