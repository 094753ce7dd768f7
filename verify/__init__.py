"""The judges: they recompute everything and import no maker."""
