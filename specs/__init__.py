"""TLA+ modules, and `models.toml`, the list of their models, as package data."""
