"""Synthesis methods that choose by a cost model: GenTree, and its asymmetric parameter servers."""
