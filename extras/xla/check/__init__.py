"""Execution of permute programs and StableHLO modules, with contributions instead of numbers.

`permute_checker` is for the one, `hlo_checker` for the other, whose execution is in `hlo`.
"""
