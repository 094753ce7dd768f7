"""One module per command, or per small group of commands."""
