"""What collectives cost on real clusters, in models of the literature: exact rationals, units in every name."""
