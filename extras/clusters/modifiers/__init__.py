"""Modifiers of networks: `latencies`, how long data are on the wire of a link, such as one between boxes."""
