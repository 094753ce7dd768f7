"""Servers: matrices of `nvidia-smi` and of AMD's tools, dumps of NCCL, hwloc."""
