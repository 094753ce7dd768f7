"""Tuning: the best schedule for each range of message sizes.

- `running`: tune, and what its folder holds; `point`: the best schedule at one size, on a worker
- `curve`: times of schedules at other sizes, ranges, and the sizes at which one gets slower than the next
"""
