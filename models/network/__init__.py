"""Networks: the topology, its files, and specifications such as `torus:8x8,capacity=2`.

- `topology`: endpoints, switches and directed links; `topology_file` and `topology_graph`: files; `spec`: parser of specifications
- `families`: named topologies, one file each; `imports`: machine descriptions written by other tools
- `routing`: shortest routes; `up_down`: routes towards a root and away from it; `action`: groups of automorphisms
"""
