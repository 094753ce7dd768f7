"""The command line: the only part of certree that prints.

- `main`: finds a command and turns errors into one line and an exit code; `commands`: one file per command; `demo`: `make demo`
- `words`: parameters and the terminal; `reproduce`: programs that write tables of this repository
"""
