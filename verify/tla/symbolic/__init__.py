"""The slotted network interface with a symbolic table, and its inductive invariant, discharged by z3."""
