"""The command frontier."""
