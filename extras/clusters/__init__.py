"""Clusters: networks from descriptions by other tools.

- `imports`: topology files of NCCL and the output of `nvidia-smi topo -m`, one file for each format
"""
