"""`model_checks`: the listed models, tables and traces; `trace_kinds`: traces that extras check."""
