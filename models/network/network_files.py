"""Network files: one class for each format, registered by decorator in `formats` or in an extra."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from certree.models.common.errors import TopologyError
from certree.models.common.extras import import_plug_ins
from certree.models.common.files import Opened, require_suffix, write_atomically
from certree.models.common.registry import Registry, import_folder
from certree.models.network.topology import Topology

#: (name, value) of options as typed behind the name of a file
Given = Sequence[tuple[str, str]]


class NetworkFormat:
    """A format of network files; the class docstring is its help text.

    `suffixes`: the ends of names of such files. `options`: by name the help texts of what may follow the name of a file, after
    commas, for what such a file does not state.
    """

    suffixes: ClassVar[tuple[str, ...]]
    options: ClassVar[Mapping[str, str]] = {}

    def matches(self, start: bytes) -> bool:
        """Whether a file that begins with these bytes has this format."""
        raise NotImplementedError

    def read(self, file: Opened, options: Given) -> Topology:
        """The network in a file; TopologyError or InputError says what is wrong and where, or which option is missing."""
        raise NotImplementedError

    def written(self, topology: Topology) -> bytes:
        """The bytes of a file; TopologyError where this format is only read."""
        raise TopologyError(f"{', '.join(self.suffixes)}: this format is read, not written")


NETWORK_FORMATS: Registry[NetworkFormat] = Registry("format of networks")


def network_format(name: str) -> Callable[[type[NetworkFormat]], type[NetworkFormat]]:
    """Register the decorated class as a format of network files."""

    def add(found: type[NetworkFormat]) -> type[NetworkFormat]:
        NETWORK_FORMATS.register(name)(found())
        return found

    return add


def load_network_formats() -> Registry[NetworkFormat]:
    """The registry, with the formats of the kernel and of all extras imported."""
    import_folder("certree.models.network.formats")
    import_plug_ins("network files")
    return NETWORK_FORMATS


def network_suffixes(*, written: bool = False) -> tuple[str, ...]:
    """The ends of names of network files; with `written`, of those that can be written."""
    formats = _writers() if written else _formats()
    return tuple(dict.fromkeys(suffix for one in formats for suffix in one.suffixes))


def _formats() -> list[NetworkFormat]:
    """All formats, those first that can be written: these are recognized fastest, and are the most frequent."""
    known = load_network_formats()
    return sorted((known[name] for name in known), key=lambda one: not _is_written(one))


def _writers() -> list[NetworkFormat]:
    """The formats that can be written."""
    return [one for one in _formats() if _is_written(one)]


def _is_written(one: NetworkFormat) -> bool:
    return type(one).written is not NetworkFormat.written


def starts_as_network(start: bytes) -> bool:
    """Whether a file that begins with these bytes is a network."""
    return any(one.matches(start) for one in _formats())


def format_of(file: Opened) -> NetworkFormat | None:
    """The format of a file by how it begins; where no format begins so, by the end of its name. None for a file of no format."""
    return next((one for one in _formats() if one.matches(file.start)), None) or _by_name(file)


def _by_name(file: Opened) -> NetworkFormat | None:
    """The format whose files have such names; certree's own where several have."""
    named = [one for one in _formats() if file.path.name.lower().endswith(one.suffixes)]
    return next((one for one in named if one in _writers()), named[0] if named else None)


def unknown_file(path: Path | str) -> str:
    """The message for a file that is not a network file."""
    return f"{path}: its contents are those of no kind of network file; known: {', '.join(load_network_formats())}"


def save_topology(topology: Topology, path: Path, *, force: bool = False) -> None:
    """Write a network in the format of the name's end; .gz compresses, with a fixed time stamp. GraphML keeps neither link order
    nor drawing. InputError for another end, and for a file that exists, unless `force`."""
    require_suffix(path, network_suffixes(written=True), "a network file")
    found = next(one for one in _writers() if path.name.lower().endswith(one.suffixes))
    write_atomically(path, found.written(topology), force=force)
