"""Helpers for all parts of certree: errors, registries, files and checked columns."""
