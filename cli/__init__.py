"""The command line: the only part of certree that prints.

- `main`: finds a command and turns errors into one line and an exit code; `commands`: one file per command (extras have theirs in
  folders `command`)
- `words`: parameters and the terminal
"""
