"""Schedules as programs of communication runtimes.

- `lowering`: from a schedule to thread blocks that send, receive, and wait for each other; `moves`: the transfers as
  moves between places; `cells`: where chunks are kept
- `plans`: to a plan of MSCCL++, copies into the buffers of other ranks, and signals; `plan_steps`: its messages step by step;
  `switched`: all-reduces in a switch
- `algorithms`: to Chakra traces, and the configuration with which ASTRA-sim executes them
- `raising`, `registers`, `staging`: from what a program does to a schedule on a network
"""
