"""The slotted network interface with a symbolic table, and its inductive invariant, proved by z3."""
