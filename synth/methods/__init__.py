"""The synthesis methods: one file each, registered by decorator and found by being below this folder.

- `rings`, `trees`, `exchanges`, `servers`, `hierarchical`: published algorithms by their pattern
- `small`: algorithms for small messages, in fine slots
- `optimizing`: packing, exact search, symmetric trees, new slots; `auto`: the automatic choice
"""
