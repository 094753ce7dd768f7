"""TLA+ models, tables and traces checked with TLC; the proof for tables of any size with z3.

- `check`: running TLC; listed models, tables and traces as modules of TLA+; the inductive invariant
- `run`: model_check, and the kinds of traces that other extras add
- `command`: model-check
"""
