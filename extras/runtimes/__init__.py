"""Runtimes: schedules as programs of communication libraries, programs as schedules, and execution with real data.

- `model`: programs of MSCCL, plans of MSCCL++ and Chakra traces, with their files; `check`: what programs of any tool do
- `make`: from a schedule to a program and back; `formats`: what is read and written, one file for each format
- `run`: execution by one process for each rank
- `programs`, `reports`: what the API does with programs, and the results in words
- `command`: execute, and the formats of programs of export
"""
