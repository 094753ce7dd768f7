"""The command `execute`, and the formats of programs of `export`."""
