"""`sweep`: many cells on many workers."""
