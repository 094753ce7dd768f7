"""The router network: its columns for the core, routing on grids, packets and injection, blocked networks in words, traces of
flits."""
