"""Kinds of evidence: `certified` (schedule, bounds, fewest steps, optimum), `order`, `tables`, `deadlock`, `runs`, `tla`,
`frontier`."""
