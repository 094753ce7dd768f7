"""Whether plots and PNG pictures can be drawn: matplotlib is an optional dependency."""

from importlib.util import find_spec

_INSTALL = "pip install 'certree[plots]'"
NEEDED = f"plots and PNG pictures need matplotlib: {_INSTALL}"
NO_PLOTS = f"no plots: {_INSTALL}"  # of a command that also writes tables


def can_plot() -> bool:
    """Whether matplotlib is installed, without loading it."""
    return find_spec("matplotlib") is not None
