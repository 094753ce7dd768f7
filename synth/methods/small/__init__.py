"""Algorithms for small messages, in fine slots for the size and the machine of a request."""
