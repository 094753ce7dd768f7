"""Networks: the topology, its files, and the specification that names one in a word.

- `topology`: endpoints, switches and directed links; `topology_file` and `topology_graph`: files; `spec`: `torus:8x8,capacity=2`
- `families`: named topologies, one file each; `imports`: machine descriptions written by other tools
- `routing`: shortest routes; `action`: groups of automorphisms
"""
