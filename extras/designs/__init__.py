"""Designs: from networks to a decision, by performance, cost and failures.

- `model`: what is compared, cost models and floor plans, bills of parts, bisection and paths of a network; rows of results
- `make`: curves, pictures and the ranking with its reasons
- `run`: the cells, computed on workers and kept
- `pages`: the interactive page
- `command`: designs
"""
