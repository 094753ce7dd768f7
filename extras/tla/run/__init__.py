"""`model_checks`: the listed models, tables and traces; `trace_kinds`, `schedule_kinds`: traces and schedules that extras check."""
