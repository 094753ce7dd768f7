"""One module per command, or per small group: `schedules`, `runs`, `model_checks`, `listings`."""
