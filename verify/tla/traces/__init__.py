"""Traces of the simulators as behaviours of the specifications: interfaces, reducing switches, endpoint engines."""
