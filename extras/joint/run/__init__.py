"""Runs of joint schedules on the simulated machine: `joint_rows`, the tables of all collectives as one program; `joint_run`."""
