"""One module per command, or per small group: `schedules`, `runs`, `listings`."""
