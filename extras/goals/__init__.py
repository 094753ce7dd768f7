"""Goals other than the fewest cycles: schedules that hardware, TLC or an executor can take, and what that costs.

- `run`: a goal for a size and a machine, as a comparison of candidates
- `kinds`: the goals, each registered by its name
"""
