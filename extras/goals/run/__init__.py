"""`aim`: a goal for a size and a machine."""
