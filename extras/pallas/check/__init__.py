"""Checks of kernel plans in all of their runs.

- `kernel_checker`: the rules, and the verdict
- `kernel_events`: the events of all runs, and which of them precedes which in every run
- `kernel_pairs`: what must precede what
- `kernel_run`: one run with contributions instead of numbers
"""
