"""The command line: the only part of certree that prints.

- `main`: finds a command and turns errors into one line and an exit code; `commands`: one file per command (those of extras are in
their folders
  `command`)
- `words`: parameters and the terminal
"""
