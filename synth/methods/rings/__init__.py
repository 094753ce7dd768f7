"""Ring algorithms."""
