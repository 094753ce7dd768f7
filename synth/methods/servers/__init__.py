"""Parameter servers."""
