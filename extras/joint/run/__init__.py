"""Runs of joint schedules on the simulated machine, and model checks: `joint_rows`, the tables of all collectives as one program;
`joint_run`; `joint_constants` and `joint_model`, the same tables in the TLA+ specification."""
