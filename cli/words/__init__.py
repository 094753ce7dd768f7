"""Words in and out: `parameters` of commands, `report` and `frontier_report` of results, `terminal`."""
