"""Several collectives at once on one network, in one schedule without contention.

- `model`: files that list collectives, and joint schedules
- `check`: rules of joint schedules, bounds on all collectives together, verdicts as documents and in words
- `make`: the schedules of the collectives, merged on the links that they share; lengths of links for bounds
- `run`: simulation of the tables of all collectives at once
- `command`: what `synthesize --workload` and `simulate` do with them; `artefacts`: files of joint schedules
"""
