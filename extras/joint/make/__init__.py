"""Joint schedules: of the schedules of their collectives (`merging`), and lengths of links for their bounds (`joint_lengths`).

`choices`: the schedules of each collective, with relays and without; `late_ranks`: all-reduces in which the others add up before a
late member comes. `combining`: all of them in several orders, side by side and one after the other. `joining`: the best is kept,
of those that routers do not spoil.
"""
