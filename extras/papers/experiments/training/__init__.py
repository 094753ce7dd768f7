"""Iterations of training: `training_runs` of workloads, `machine_training` by equations."""
