"""Proofs about one schedule: its quality, the certificate that states it, the claims of fewest steps, of an optimum and of fewest
cycles, and time bounds."""
