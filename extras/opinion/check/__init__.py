"""The second opinion, in plain Python."""
