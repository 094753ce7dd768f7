"""Runtimes: schedules as programs of communication libraries, programs as schedules, and execution with real data.

- `model`: programs of MSCCL, plans of MSCCL++ and Chakra traces, with their files; `check`: what programs of any tool do
- `make`: from a schedule to a program and back; its `formats` are those that `export` writes
- `run`: execution by one process for each rank
- `kinds`, `programs`, `reports`: the kinds of programs, what the API does with them, and the results in words
- `artefacts`: programs among the artefacts that every command reads; `exporting`: programs among the formats of export
- `command`: execute
"""
