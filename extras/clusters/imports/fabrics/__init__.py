"""Fabrics that join servers: listings of InfiniBand subnets, Slurm's topology, edge lists."""
