"""Programs of communication runtimes: `programs` exports, verifies and imports them; `kinds`: of what format a file is.

- `raising`: from what a program does to a schedule on a network, with `registers`: the buffers of its chunks, and `staging`
- `reports`: results in words and as documents; `executing`: execution by real processes
"""
