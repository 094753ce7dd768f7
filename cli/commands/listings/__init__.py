"""Commands that list names and networks: list, topology."""
