"""Witnesses of time bounds: `flow` (latency and capacity around nodes), `load` (all links together, reduction units together)."""
