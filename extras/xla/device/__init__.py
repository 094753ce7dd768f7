"""The code of modules for JAX: `template` is a whole module, of the smallest schedule."""
