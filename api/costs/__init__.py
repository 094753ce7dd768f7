"""Cost models: `costing` of schedules and methods, `fitting` of parameters to measured times."""
