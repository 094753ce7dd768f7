"""What certree does, as functions: `import certree.api as ct`. The commands of the command line call them and print.

Functions take the texts that the command line takes, or objects of the data model; they return objects of the data model, and raise
the errors of `certree.models.common.errors` and of `errors`. Nothing is imported before it is used.

- `parsing`: networks, collectives, machines and sizes; `inputs`: files and folders; `errors`
- `checking`: verify, certify, bound; `synthesis`: synthesize, improve; `frontiers`: frontier; `evidence`: how certificates are made
- `tables`: export, import_tables; `runnable`: from a schedule to what is run; `endpoint_runs`
- `comparison`: methods compared by cycles; `costs`: by cost models
- `reports`: results as JSON documents and in words; `pictures`: plots; `papers`: figures and tables of the papers
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from certree.api.checking import Bounds as Bounds
    from certree.api.checking import bound as bound
    from certree.api.checking import certify as certify
    from certree.api.checking import verify as verify
    from certree.api.errors import DisagreementError as DisagreementError
    from certree.api.errors import InvalidScheduleError as InvalidScheduleError
    from certree.api.errors import SearchInterrupted as SearchInterrupted
    from certree.api.frontiers import frontier as frontier
    from certree.api.inputs import load as load
    from certree.api.inputs import save as save
    from certree.api.parsing import collective as collective
    from certree.api.parsing import machine as machine
    from certree.api.parsing import size as size
    from certree.api.parsing import topology as topology
    from certree.api.synthesis import improve as improve
    from certree.api.synthesis import synthesize as synthesize
    from certree.api.tables import export as export
    from certree.api.tables import import_tables as import_tables

#: module -> the names that this package has from it
_PARTS = {
    "checking": ("Bounds", "bound", "certify", "verify"),
    "errors": ("DisagreementError", "InvalidScheduleError", "SearchInterrupted"),
    "frontiers": ("frontier",),
    "inputs": ("load", "save"),
    "parsing": ("collective", "machine", "size", "topology"),
    "synthesis": ("improve", "synthesize"),
    "tables": ("export", "import_tables"),
}
_MODULES = {name: module for module, names in _PARTS.items() for name in names}
__all__ = sorted(_MODULES)  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    """Import a function when it is asked for."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
