"""Orders of additions: schedules whose chunks are all added in one order."""
