"""Orders of levels, estimates of what they take, and their programs."""
