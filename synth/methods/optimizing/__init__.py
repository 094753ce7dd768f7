"""Methods that optimize: packing, constraint search, symmetric trees, re-timing."""
