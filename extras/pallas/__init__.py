"""Pallas: schedules as kernels for TPUs with remote DMAs, and a checker of such kernels over all interleavings.

- `model`: kernel plans, what every device does; their files, and the modules that have them
- `check`: the checker
- `make`: from a schedule to a plan
- `device`: the code of every module
- `formats`: what `certree export` writes and other commands read
- `run`: execution on devices of JAX, in Pallas' interpret mode
"""
