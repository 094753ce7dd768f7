"""Algorithms along trees."""
