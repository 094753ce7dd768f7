"""The router network: its columns for the core, routing on grids, packets and injection, blocked networks in words, flits as
bits, traces of flits."""
