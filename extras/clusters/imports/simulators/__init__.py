"""Networks of simulators (ASTRA-sim, BookSim, htsim, ns-3) and synthesizers (TACCL, TE-CCL)."""
