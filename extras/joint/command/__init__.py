"""Several collectives at once in `certree synthesize --workload` and `certree simulate`."""
