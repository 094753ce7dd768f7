"""Commands for schedules and their tables: synthesize, verify, certify, improve, bound, frontier, export, import."""
