"""Proofs about one schedule: its quality, the certificate that states it, the claims of fewest steps and of an optimum, time
bounds."""
