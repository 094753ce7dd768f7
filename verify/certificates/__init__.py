"""Proofs about one schedule: its quality, the certificate that states it, the claim of fewest steps, time bounds."""
