"""The command aggregate."""
