"""Verification of joint schedules.

- `joint_checks`: a joint schedule in, a verdict out; `joint_bounds`: bounds on all
  collectives together, re-checked by their witness
- `launches`: whether all launches end, whenever and in whichever order ranks launch
- `joint_report`: verdicts as documents and in words
"""
