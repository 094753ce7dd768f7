"""Kinds of evidence: `certified` (schedule, bounds, fewest steps), `tables`, `runs`, `tla`, `frontier`."""
