"""The code of modules with a kernel: `kernel_template` is a whole module, of the smallest schedule."""
