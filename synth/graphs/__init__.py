"""Graph algorithms that several methods share: best cuts, link lengths of the metric bound, Hamiltonian cycles, disjoint
branchings of few hops, networks as trees of switches."""
