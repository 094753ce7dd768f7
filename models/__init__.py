"""The nouns: topology, collective, schedule, tables, machine parameters and their closed-form times."""
