"""The goals. `clocks`: counters that differ; `specification`: all states by TLC; `executors`: limits of programs."""
