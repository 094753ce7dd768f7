"""`aggregation_trace_check`: traces as behaviours of the specification; `reducing_network`: the network that a trace states."""
