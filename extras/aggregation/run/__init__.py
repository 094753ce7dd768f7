"""Switches that reduce packets in windows: `aggregations`, aggregate; trees and routes, set-up, the run and its trace;
`reducing_time`: the closed form; `traced`: traces in model-check."""
