"""Schedules that run on machines today: the rings and trees that NCCL or RCCL found, as schedules on an imported network.

- `channels.py`: rings and trees of ranks, and how those of one box go on through several; `known.py`: those of known boxes,
  without a file
- `graph_dump.py`, `nccl_log.py`: their files; of logs `log_lines.py`, what a message states, and `communicators.py`, which messages
  are of one communicator
- `lowering.py`: their schedules; `artefacts.py` makes them known to every command
"""
