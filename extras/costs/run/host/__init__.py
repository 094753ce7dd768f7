"""Benchmarks on this computer for fitting cost models: vectors in memory, processes over loopback sockets."""
