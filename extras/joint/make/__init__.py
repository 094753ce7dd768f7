"""Joint schedules: of the schedules of their collectives (`merging`), and lengths of links for their bounds (`joint_lengths`).

`late_ranks`: all-reduces in which the others add up before a late member comes. `joining`: the collectives with and without relays,
in several orders and one after the other; the best is kept.
"""
