"""Switches that reduce packets in windows: `aggregations`, aggregate; trees and routes, set-up, the run and its trace; `traced`:
traces in model-check."""
