"""The command `bundle`."""
