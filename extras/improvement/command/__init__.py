"""The command improve."""
