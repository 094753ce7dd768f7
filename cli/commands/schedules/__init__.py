"""Commands for schedules and their tables: synthesize, verify, certify, bound, export, import."""
