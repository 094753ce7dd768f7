"""Tree packings and their slots.

- `spanning_trees`, `directed`: all-reduce; `branchings`, `routed_branchings`, `root_shares`: one direction, rooted collectives
- `splitting`, `steiner`: networks with switches; `undirected`: the common capacity of both directions of links
- `growth`: MultiTree's construction; `trees`: families of trees; `slotting`, `selection`: slots, delay, period and repeats
"""
