"""Formats of tables for those who build endpoints."""
