"""Collectives of some endpoints, whose data other endpoints relay.

- `make`: trees over relays; `methods`: what is registered with them
"""
