"""The network interface with a symbolic table, and its inductive invariant, proved by z3.

- `interface`, `invariant`, `ranking`: slotted; `paced_interface`, `paced_invariant`: paced, at any timing
- `world`: sorts of any size, or of a few members
"""
