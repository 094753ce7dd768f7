"""Orders of additions: schedules whose chunks are all added in one order.

- `make`: orders by name, placings of their sums, transfers; `methods`: what is registered with them
"""
