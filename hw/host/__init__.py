"""Benchmarks on this computer that show the parameters of cost models: vectors in memory, processes over loopback sockets."""
