"""Iterations of training: `training_runs`."""
