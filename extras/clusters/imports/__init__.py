"""Descriptions of machines and fabrics by other tools: one file for each format.

`boxes` has servers with accelerators, `fabrics` what joins servers, `simulators` the networks of simulators and synthesizers.
`joined.py` joins boxes with a fabric,
`options.py` is what users state, `box.py` makes the network, `texts.py` reads what was copied from a terminal.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from certree.extras.clusters.imports.box import Box, chosen_ports, compose
from certree.extras.clusters.imports.joined import joined
from certree.extras.clusters.imports.options import OPTION_HELP, Options, read_options
from certree.models.common.errors import TopologyError
from certree.models.common.files import Opened
from certree.models.common.registry import Registry, import_folder
from certree.models.network.network_files import NETWORK_FORMATS, Given, NetworkFormat, format_of
from certree.models.network.topology import Topology

MAX_BYTES = 1 << 24  # of a description: thousands of times what a large machine needs

#: reader of a box or a fabric from a file; raises TopologyError naming what is wrong and where
Reader = Callable[[Opened, Options], Box]
IMPORTS: Registry[Reader] = Registry("import format")


class Description(NetworkFormat):
    """A machine or a fabric as another tool describes it, or several boxes joined by a fabric."""

    options = OPTION_HELP

    def __init__(self, reader: Reader, matches: Callable[[bytes], bool], suffixes: tuple[str, ...]) -> None:
        self.suffixes = suffixes  # type: ignore[misc]
        self._reader, self._matches = reader, matches
        self.__doc__ = reader.__doc__

    def matches(self, start: bytes) -> bool:
        """Whether a file begins with what the tool writes first."""
        return self._matches(start)

    def read(self, file: Opened, options: Given) -> Topology:
        """The network of the box or boxes; an error says what is wrong, or which options must supply what the file does not
        state."""
        if file.path.is_file() and file.path.stat().st_size > MAX_BYTES:
            raise TopologyError(f"{file}: {file.path.stat().st_size} bytes; allowed: up to {MAX_BYTES}")
        read = read_options(options, str(file))
        if read.fabric_file is None:
            return compose(self._reader(file, read), read, str(file))
        return compose(_with_fabric(file, read), replace(read, boxes=1, fabric=None), str(file))

    def box(self, file: Opened, options: Options) -> Box:
        """The box or fabric in a file."""
        return self._reader(file, options)


def _with_fabric(file: Opened, options: Options) -> Box:
    """The boxes of a file and of `options.dumps`, joined by the fabric in a file."""
    several = replace(options, boxes=max(options.boxes, 2))
    boxes = []
    for one in (file, *(Opened(Path(name)) for name in options.dumps)):
        box = _described(one, "boxes").box(one, several)
        boxes.append((one.path.stem, replace(box, ports=chosen_ports(box, options, str(one)))))
    fabric = Opened(options.fabric_file or file.path)
    read = _described(fabric, "fabrics").box(fabric, replace(options, nics=(), boxes=1))
    return joined(boxes, read, options, str(file))


def _described(file: Opened, part: str) -> "Description":
    """The format of a file, one of a part of this folder."""
    names = [name for name in load_imports() if IMPORTS[name].__module__.startswith(f"{__name__}.{part}.")]
    found = format_of(file)
    if not any(NETWORK_FORMATS[name] is found for name in names):
        raise TopologyError(f"{file}: expected one of {', '.join(names)}, for {part} that are joined")
    assert isinstance(found, Description)
    return found


def description(name: str, matches: Callable[[bytes], bool], *suffixes: str) -> Callable[[Reader], Reader]:
    """Register the decorated reader; `matches`: whether a file that begins with these bytes is such a description. `suffixes`: ends
    of names of which a file is taken for one when its contents show no format."""

    def add(reader: Reader) -> Reader:
        NETWORK_FORMATS.register(name)(Description(reader, matches, suffixes))
        return IMPORTS.register(name)(reader)

    return add


def load_imports() -> Registry[Reader]:
    """The registry, with every module of this folder imported."""
    import_folder(__name__)
    return IMPORTS
