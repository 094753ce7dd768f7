"""Machine descriptions by other tools: one file for each format, registered by the suffix of its files."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

from certree.models.common.errors import TopologyError
from certree.models.common.files import read_bytes
from certree.models.common.registry import Registry, import_folder
from certree.models.network.imports.box import Box, Options, compose, read_options, unit_of
from certree.models.network.topology import Topology

MAX_BYTES = 1 << 24  # of a description: thousands of times what a large machine needs

#: suffix -> reader of a box from the bytes of a file; raises TopologyError naming the option that is missing
IMPORTS: Registry[Callable[[bytes, Options, str], Box]] = Registry("import format")


def load_imports() -> Registry[Callable[[bytes, Options, str], Box]]:
    """The registry, with every module of this folder imported."""
    import_folder(__name__)
    return IMPORTS


def suffixes() -> tuple[str, ...]:
    """The suffixes of supported files."""
    return tuple(load_imports())


def import_topology(path: Path, options: list[tuple[str, str]]) -> Topology:
    """The network in a description by another tool; `options`: (name, value) pairs as typed behind the file's name.

    TopologyError or InputError says what is wrong, or which option must supply what the file does not state.
    """
    return compose(*_read(path, options), str(path))


def imported_unit(path: Path, options: list[tuple[str, str]]) -> Fraction:
    """Bytes per second of a link of capacity 1 in the network that `import_topology` returns."""
    return unit_of(*_read(path, options))


def _read(path: Path, options: list[tuple[str, str]]) -> tuple[Box, Options]:
    if path.is_file() and path.stat().st_size > MAX_BYTES:
        raise TopologyError(f"{path}: {path.stat().st_size} bytes; allowed: up to {MAX_BYTES}")
    read = read_options(options, str(path))
    return load_imports()[path.suffix.lower()](read_bytes(path), read, str(path)), read
