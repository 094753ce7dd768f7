"""GenModel's parameters from measured times: measurements, the fit, its parameter file."""
