"""What `certree synthesize --workload` and `certree simulate` do with several collectives at once."""
