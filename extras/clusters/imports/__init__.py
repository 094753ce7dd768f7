"""Machine descriptions by other tools: one file for each format, registered by the suffix of its files."""

from collections.abc import Callable

from certree.extras.clusters.imports.box import OPTION_HELP, Box, Options, compose, read_options
from certree.models.common.errors import TopologyError
from certree.models.common.files import Opened
from certree.models.common.registry import Registry, import_folder
from certree.models.network.network_files import NETWORK_FORMATS, Given, NetworkFormat
from certree.models.network.topology import Topology

MAX_BYTES = 1 << 24  # of a description: thousands of times what a large machine needs

#: reader of a box from the bytes of a file; raises TopologyError naming the option that is missing
Reader = Callable[[bytes, Options, str], Box]
IMPORTS: Registry[Reader] = Registry("import format")


class Description(NetworkFormat):
    """A box of accelerators as another tool describes it, or several of them joined by a fabric."""

    options = OPTION_HELP

    def __init__(self, reader: Reader, suffix: str, matches: Callable[[bytes], bool]) -> None:
        self.suffixes = (suffix,)  # type: ignore[misc]
        self._reader, self._matches = reader, matches
        self.__doc__ = reader.__doc__

    def matches(self, start: bytes) -> bool:
        """By what the tool writes first."""
        return self._matches(start)

    def read(self, file: Opened, options: Given) -> Topology:
        """The network of the box or boxes; an error says what is wrong, or which option must supply what the file does not
        state."""
        return compose(*self._box(file, options), str(file))

    def _box(self, file: Opened, options: Given) -> tuple[Box, Options]:
        if file.path.is_file() and file.path.stat().st_size > MAX_BYTES:
            raise TopologyError(f"{file}: {file.path.stat().st_size} bytes; allowed: up to {MAX_BYTES}")
        read = read_options(options, str(file))
        return self._reader(file.data(), read, str(file)), read


def description(name: str, suffix: str, matches: Callable[[bytes], bool]) -> Callable[[Reader], Reader]:
    """Register the decorated reader; `matches`: whether a file that begins with these bytes is such a description."""

    def add(reader: Reader) -> Reader:
        NETWORK_FORMATS.register(name)(Description(reader, suffix, matches))
        return IMPORTS.register(suffix)(reader)

    return add


def load_imports() -> Registry[Reader]:
    """The registry, with every module of this folder imported."""
    import_folder(__name__)
    return IMPORTS
