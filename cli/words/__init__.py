"""Input and output of commands: shared `parameters`, `terminal` output, layout of a `table`, `progress_bar`, `schedules`."""
