"""Machines of several GPUs, and what networks are built of."""
