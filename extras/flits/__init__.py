"""Flits as bits: the layout of the MultiTree paper, its tables' sizes, and the heads of messages in a run.

- `model`: the fields and their widths, packed and unpacked; `run`: flits packed by the core, heads of a traced run, sizes
- `command`: flits
"""
