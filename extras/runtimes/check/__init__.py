"""Verification of programs for communication runtimes, written by any tool.

- `checker`: a program in, a verdict out; `execution`: all thread blocks of all ranks, with messages in order and values as sets of
  contributions; `ordering`: accesses that nothing orders; `sums`: the order in which programs add
- `plan_checker`, `plan_execution`: the same for plans of MSCCL++, whose operations use the buffers of other ranks;
  `plan_operations`: these, unrolled and in words; `plan_semaphores`: who learns what from whom
- `algorithm_checker`: the same for Chakra traces of collectives
"""
