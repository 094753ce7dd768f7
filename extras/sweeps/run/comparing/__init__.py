"""Methods side by side, by cycles.

- `comparison`: compare; `several_networks`: the same on several networks
- `baselines`: what runs today, from a file or by name
"""
