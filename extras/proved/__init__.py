"""The proved checker: a program that Coq extracts from a checker with a proof, and its answers on schedules.

- `extra.py`: what this extra adds to the kernel
- `run`: a schedule as numbers (`numbers_of_schedule.py`), the program (`proved_program.py`), its answer (`proved_answer.py`)

The definitions, the checker and the proofs are `specs/proved/`.
"""
