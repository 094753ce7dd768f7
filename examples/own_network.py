"""A network of your own: any networkx graph. Nodes may be switches, edges may be wider than others."""

import networkx as nx

import certree.api as ct

graph = nx.cycle_graph(6)
graph.add_edge(0, 3, capacity=2)
for _, _, edge in graph.edges(data=True):
    edge.setdefault("capacity", 1)
network = ct.topology(graph)
print(ct.describe(network)["diameter"])
print(ct.verify(ct.synthesize(network, "all-gather", size="64KiB")))
ct.draw(network, "own.svg", force=True)
