"""Commands for schedules and their tables: synthesize, verify, certify, improve, bound, frontier, compare, export, import."""
