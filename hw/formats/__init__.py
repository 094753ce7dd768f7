"""File formats of table rows: one module each, registered by decorator and discovered in this folder.

The format `systemverilog` has all files that a team needs to build the network interface.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Protocol

from numpy.typing import NDArray

from certree.hw.formats.bit_layout import Widths
from certree.models.common.extras import import_plug_ins
from certree.models.common.registry import Registry, import_folder
from certree.models.tables.tables import Tables

#: the columns of `Tables` that `Widths.row_columns` and `Widths.arrival_columns` name, and the ports of its routes
Columns = dict[str, NDArray[Any]]
EPOCH_COLUMN = "epochs"  # in the header of each endpoint's image, or with its table; empty where none are stated
ROUTE_COLUMN = "ports"  # of shape (routes, longest + 1), with a first column more where routes state virtual channels


class TableFormat(Protocol):
    """Converter of the columns of `Tables` to files and back. `has_trace`: whether a folder has a golden trace as well."""

    has_trace: ClassVar[bool]

    def files(self, tables: Tables, widths: Widths) -> dict[str, bytes]:
        """File name -> contents. The manifest, with a CRC-32 and SHA-256 of each file, is added by `hw.tables.directory`."""

    def columns(self, files: Mapping[str, bytes], widths: Widths, endpoints: list[int]) -> Columns:
        """The columns in the files; TableFormatError names the file and line that cannot be read.

        `files`: all files of the directory except the manifest, with any names and contents. `endpoints`: their ids.
        """

    def check(self, files: Mapping[str, bytes], tables: Tables, widths: Widths) -> None:
        """Raise TableFormatError where a file with more than the columns differs from the one that these tables give."""


FORMATS: Registry[type[TableFormat]] = Registry("table format")


def load_formats() -> Registry[type[TableFormat]]:
    """The registry, with every module of this folder, and those of plug-ins, imported."""
    import_folder(__name__)
    import_plug_ins("table formats")
    return FORMATS
