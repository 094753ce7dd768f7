"""One module per command, or per small group: `schedules`, `runs`, `costs`, `listings`, `papers`, `pictures`, `sweeps`."""
