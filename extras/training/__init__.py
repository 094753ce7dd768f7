"""Training: iterations of a workload whose collectives overlap with computing.

- `model`: workloads, their files and presets, and the passes and queues of an iteration
- `run`: training runs on a network, by the timers of collectives; what-if; results as documents and in words
- `make`: the timeline as a picture; `pages`: the HTML page of a run
- `command`: train
"""
