"""Personalised collectives as flows: `paths` for the blocks of all pairs, of one root or of a group, and their
`slots`; `route_slots`: both together, through switches; `demand`: of blocks that differ in size."""
