"""The Python API: `import certree.api as ct`. The commands of the command line call these functions and print.

Functions take the texts that the command line takes, or objects of the data model; they return objects of the data model, and raise
the errors of `certree.models.common.errors` and of `api_errors`. Nothing is imported before it is used. `__init__.pyi` has the
names, and `api.pyi` of each extra those that it adds.

- `artefacts`: what is found on a path, with one file for each kind in `kinds`; `inputs`: arguments that may be paths
- `parsing`: networks, collectives, machines and sizes; `settings`: size and machine of a schedule; `api_errors`
- `checks`: verify, certify, bound, verify_all; `synthesis`: synthesize; `evidence`: how certificates
  are made
- `table_export`: export, import_tables, row_bits
- `runs`: simulate, simulate_switch, deadlock, inject
- `listings`: names, explain, describe, schemas; `workers`: the workers that a call asks for
- `reports`: results as JSON documents and in words
"""

import ast
from importlib import import_module
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from certree.models.common.extras import extras


def modules() -> dict[str, str]:
    """The module of each public name, as the stubs state it."""
    stubs = [files(__name__) / "__init__.pyi", *(files(f"certree.extras.{name}") / "api.pyi" for name in extras())]
    return {name: module for stub in stubs if stub.is_file() for name, module in _stated(stub)}


def _stated(stub: Traversable) -> list[tuple[str, str]]:
    imports = [line for line in ast.parse(stub.read_text(encoding="utf-8")).body if isinstance(line, ast.ImportFrom)]
    return [(name.name, line.module or "") for line in imports for name in line.names if name.name != "*"]


_MODULES = modules()
__all__ = sorted(_MODULES)  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    """Import a function when it is asked for."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_MODULES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
