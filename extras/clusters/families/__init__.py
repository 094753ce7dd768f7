"""Families of boxes of GPUs: inside a box as its vendor describes it, with a network interface for each GPU where a fabric joins
several; `fabric` is their common part."""
