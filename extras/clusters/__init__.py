"""Clusters: networks of machines that people have.

- `imports`: topology files of NCCL and the output of `nvidia-smi topo -m`, one file for each format
- `running`: rings and trees from graph dumps and logs of NCCL
- `families`: boxes of GPUs that vendors sell, by name, joined by a fabric
- `modifiers`: latencies of links, such as those between boxes
"""
