"""Results as JSON documents and in words: `schedule_report`, `run_report`, `time_bounds`; `text`: sizes, gaps
and names in words."""
