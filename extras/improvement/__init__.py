"""A faster schedule from a valid one: other slots, orders, trees, delays, repeats.

- `make`: the searches, and improve
- `command`: improve
"""
