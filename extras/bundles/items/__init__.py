"""Kinds of evidence: `certified` (schedule, bounds, fewest steps, optimum), `tables`, `deadlock`, `runs`, `tla`, `frontier`."""
