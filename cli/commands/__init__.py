"""One module per command, or per small group of commands: `schedules`, `runs`, `costs`, `listings`, `papers`, `pictures`."""
