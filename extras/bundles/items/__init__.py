"""Kinds of evidence: `certified` (schedule, bounds, fewest steps), `tables`, `deadlock`, `runs`, `tla`, `frontier`."""
