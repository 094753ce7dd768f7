"""Trees from members to members over relays, and their transfers."""
