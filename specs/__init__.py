"""TLA+ modules, configurations and their manifest, as package data."""
