"""All that this plug-in registers, for the conformance suite; certree itself imports the modules that the entry points name."""

from certree_star import star_method, wheel_family

__all__ = ["star_method", "wheel_family"]
