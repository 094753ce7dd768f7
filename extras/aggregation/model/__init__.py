"""`aggregation_traces`: traces of switches that reduce."""
