"""Personalised collectives as flows: `block_paths` for the blocks of all pairs, of one root or of a group, and their
`block_slots`; `route_slots`: both together, through switches; `parallel_links`: which of several links each route takes;
`demand_schedule`: of blocks that differ in size."""
