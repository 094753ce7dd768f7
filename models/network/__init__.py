"""Networks: the topology, its files, and specifications such as `torus:8x8,capacity=2`.

- `topology`: endpoints, switches and directed links; `spec`: parser of specifications; `families`: named topologies, one file each
- `network_files`: the formats of files, one file each in `formats`; `topology_file`, `topology_graph`: what they read and write
- `routing`: shortest routes; `up_down`: routes towards a root and away from it; `action`: groups of automorphisms
"""
