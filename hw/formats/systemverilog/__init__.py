"""The format `systemverilog`: all files that a team needs to build the network interface.

- `headers`: numbers and CRC of these images, for interfaces with two banks
- `images`: rows by slot and stage, with lines of arrivals in place of names; `sizes`: widths, depths, times
- `window`: rows that the interface reads ahead
- `package`: SystemVerilog package and C header; `registers`: the register map and its SystemRDL
- `contract`: CONTRACT.md; `testbench`: a network model and monitors around the interfaces, and assertions to bind
"""

from collections.abc import Mapping
from typing import ClassVar

from certree.hw.formats import FORMATS, Columns
from certree.hw.formats.bit_layout import Widths
from certree.hw.formats.readmemh import ROUTES_FILE, ReadmemhFormat, encode, file_name
from certree.hw.formats.systemverilog.contract import contract_text
from certree.hw.formats.systemverilog.headers import image_headers
from certree.hw.formats.systemverilog.images import slot_matrix
from certree.hw.formats.systemverilog.package import header_text, package_text
from certree.hw.formats.systemverilog.registers import rdl_text
from certree.hw.formats.systemverilog.sizes import Sizes, sizes_of
from certree.hw.formats.systemverilog.testbench import is_executable, reference_files, testbench_text
from certree.models.common.errors import TableFormatError
from certree.models.tables.tables import Tables

TRACE_FILE = "trace.csv"
ARRIVALS = "arrivals"
SLOTS = "slots"  # the images of rows in firing order


@FORMATS.register("systemverilog")
class SystemVerilogFormat:
    """readmemh with a SystemVerilog package, C header, register map, contract, testbench, reference interface and golden trace."""

    has_trace: ClassVar[bool] = True

    def files(self, tables: Tables, widths: Widths) -> dict[str, bytes]:
        """The files except the golden trace. Time O(rows log rows)."""
        others, sizes = ReadmemhFormat().files(tables, widths), sizes_of(tables, widths)
        return others | tables_documents(sizes, others) | reference_files(sizes)

    def columns(self, files: Mapping[str, bytes], widths: Widths, endpoints: list[int]) -> Columns:
        """The columns in the hex images, as of `readmemh`."""
        images = {
            name: data
            for name, data in files.items()
            if not name.startswith((f"{SLOTS}_", "certree_", "CONTRACT")) and name != TRACE_FILE
        }
        return ReadmemhFormat().columns(images, widths, endpoints)

    def check(self, files: Mapping[str, bytes], tables: Tables, widths: Widths) -> None:
        """Raise TableFormatError for a document that these tables do not give. The reference interface is whatever the
        manifest says; `certree.hw.golden` checks the golden trace."""
        expected = tables_documents(sizes_of(tables, widths), files)
        for name, data in expected.items():
            if files.get(name) != data:
                raise TableFormatError(f"{name} is {'not what these tables give' if name in files else 'missing'}")
        left = {name for name in files if name.startswith((f"{SLOTS}_", "CONTRACT"))} - set(expected)
        if left:
            raise TableFormatError(f"{min(left)}: unexpected file")


def tables_documents(sizes: Sizes, others: Mapping[str, bytes]) -> dict[str, bytes]:
    """The files that describe these tables; `others`: the files of `readmemh`. O(rows)."""
    texts = {
        "certree_ni_pkg.sv": package_text(sizes),
        "certree_tables.h": header_text(sizes),
        "certree_ni.rdl": rdl_text(sizes),
        "CONTRACT.md": contract_text(sizes),
    }
    if is_executable(sizes):
        texts["certree_tb_pkg.sv"] = testbench_text(sizes)
    matrix = slot_matrix(sizes.rows, sizes.tables, sizes.fields)
    nodes = sizes.tables.topology.endpoints.tolist()
    slots = {node: encode(matrix[sizes.rows.node == node], sizes.fields) for node in nodes}
    images = {file_name(SLOTS, node): lines for node, lines in slots.items()}
    if sizes.tables.epoch is not None:
        routes = others.get(ROUTES_FILE, b"")
        headers = image_headers(sizes, {node: (slots[node], others[file_name(ARRIVALS, node)], routes) for node in nodes})
        images |= {file_name(f"{SLOTS}_header", node): lines for node, lines in headers.items()}
    return {name: text.encode() for name, text in texts.items()} | images
