"""`frontiers`: frontier."""
