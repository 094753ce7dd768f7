"""The command endpoints."""
