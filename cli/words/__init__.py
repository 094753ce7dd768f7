"""Words in and out: `parameters` of commands, `terminal`."""
