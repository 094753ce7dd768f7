"""`sweep`: many cells on many workers; `tune`: the best schedule for each range of sizes."""
