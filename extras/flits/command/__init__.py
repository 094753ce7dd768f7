"""The command flits."""
