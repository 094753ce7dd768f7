"""Formats of network files, one file each: certree's own JSON (`json_networks`), and graphs of networkx (`graph_networks`)."""
