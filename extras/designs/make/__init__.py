"""Rankings, charts and tables of results, for a decision.

- `charts`: curves and bars of all networks; `drawing`: as SVG and PNG
- `compared`: what is known of all networks
- `ranking`: the order of the networks, with its reasons in sentences
"""
