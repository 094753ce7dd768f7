"""Execution of StableHLO with events in place of data.

- `tensors`: known numbers and blocks of data; `events`: what happens to blocks
- `numbers`, `moves`, `gathers`, `operations`: what operations do; `machine`: control flow; `folds`: loops of which one turn
  stands for all; `devices`: a module on a mesh
- `values`: what blocks hold, and what devices moved; `layouts`: the collective; `history`: what made a block
"""
