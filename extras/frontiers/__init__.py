"""Exact frontiers of small networks: the best schedules by chunks, steps and rounds, with a proof for every other candidate.

- `artefacts`: files of frontiers, and their points as schedules
- `make`: the search, with what is known at its start
- `check`: verdicts on frontiers as documents and in words
- `command`: frontier
"""
