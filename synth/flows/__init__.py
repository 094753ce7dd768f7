"""Personalised collectives as flows: `paths` for the blocks of all pairs, of one root or of a group, and their
`slots`; `route_slots`: both together, through switches; `parallel_links`: which of several links each route takes;
`demand`: of blocks that differ in size."""
