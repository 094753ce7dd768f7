"""The formats of kernel plans."""
