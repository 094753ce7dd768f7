"""XLA: schedules as Python modules for JAX, and execution on the devices of JAX.

- `model`: permute programs (steps of permutes, with tables) and the modules that have them; `check`: what such a program does
- `make`: from a schedule to a permute program; `device`: the code that is the same in every module
- `formats`: the formats jax and stablehlo of `certree export`; `run`: execution on devices, in this process and in another one
"""
