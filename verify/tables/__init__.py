"""Exported tables: `checker` decides on rows as they stand, `dependencies` has the rules for what they wait for."""
