"""Symmetric schedules: groups of automorphisms, trees of Cayley graphs, edge-disjoint trees from one root."""
