"""What is proved of one schedule: its quality, the certificate that states it, the claim of fewest steps."""
