"""Schedules: lists of transfers (chunk, source, destination, step).

- `schedule`: the first form, and `schedule_file`, `schedule_csv`: its files; `schedule_columns`: checks of shapes and ranges
- `symmetric`: the second form, and its files
- `made_for`: the message size and machine that a schedule was made for
- `collective`: the required result of a schedule; `default_shares`: owners of chunks where a file names none
- `unit_rounds`: steps of several rounds as steps of one; `paths`: links that transfers pass
- `timing`, `tolerance`: closed-form times
"""
