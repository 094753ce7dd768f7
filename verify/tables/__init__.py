"""Verification of exported tables: `checker` verifies the rows, `dependencies` has the rules for what rows wait for."""
