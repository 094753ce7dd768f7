"""`certree_tb_pkg.sv`: the network around the interfaces, for the testbenches; and the files that do not depend on tables."""

from collections.abc import Iterable
from functools import cache
from importlib.resources import files

import numpy as np

from certree.hw.formats.source_routes import port_numbers
from certree.hw.formats.systemverilog.headers import HEADER_WORDS, header_words
from certree.hw.formats.systemverilog.images import lanes_of
from certree.hw.formats.systemverilog.package import NOTE, interfaces
from certree.hw.formats.systemverilog.sizes import Sizes
from certree.models.schedule.paths import link_cycles
from certree.models.tables.table_columns import Profile
from certree.models.tables.table_memory import block_addresses, layout
from certree.models.tables.tables import Tables

FILE_LIST = "certree_ni.f"
_BENCH = ("certree_network.sv", "certree_node_memory.sv", "certree_nodes.sv", "certree_ni_tb.sv")
_COCOTB = "certree_ni_cocotb.py"
_PARTS = ("rows", "messages", "arrivals", "bench")  # folders of `hw/rtl`
_MODULES = (
    "certree_ni_table.sv", "certree_ni_slots.sv", "certree_ni_lockstep.sv",
    "certree_ni_scoreboard.sv", "certree_ni_cells.sv", "certree_ni_counters.sv",
    "certree_ni_place.sv", "certree_ni_fetch.sv", "certree_ni_window.sv", "certree_ni_allocator.sv", "certree_ni_lane.sv",
    "certree_ni_receiver.sv", "certree_ni_inputs.sv", "certree_ni_outputs.sv", "certree_ni_adder.sv", "certree_ni_reducer.sv",
    "certree_ni_loader.sv", "certree_ni_banks.sv", "certree_ni_registers.sv", "certree_ni.sv",
)  # fmt: skip
_IN_BLOCK = "BLOCK_TO[b] == ni && a >= BLOCK_AT[b] && a < BLOCK_AT[b] + BLOCK_GRANULES[b]"
_BLOCKS_DUE = f"for (int b = 0; b < BLOCKS; b++) if ({_IN_BLOCK}) is_due = 1;"
_BLOCKS_PROMISED = f"""for (int b = 0; b < BLOCKS; b++) begin
      if ({_IN_BLOCK}) found = initial_granule(BLOCK_OF[b], BLOCK_FROM[b] + a - BLOCK_AT[b]);
    end"""
_SUMS = "for (int other = 0; other < NIS; other++) if (IS_MEMBER[other] != 0) found = added(found, initial_granule(other, a));"
_LIMIT = 4  # times the length of the slots, after which the testbench gives up


def reference_files(sizes: Sizes) -> dict[str, bytes]:
    """The reference interface, the testbenches, and the list of files; nothing for tables that it cannot execute."""
    return _sources() if is_executable(sizes) else {}


@cache
def _sources() -> dict[str, bytes]:
    folder = files("certree.hw") / "rtl"
    placed = {entry.name: entry for part in (folder, *(folder / name for name in _PARTS)) for entry in part.iterdir()}
    sources = {name: placed[name].read_bytes() for name in (*_MODULES, *_BENCH, _COCOTB)}
    sources |= {entry.name: entry.read_bytes() for entry in (folder / "properties").iterdir()}
    listed = ("+define+CERTREE_CHECK", "certree_ni_pkg.sv", "certree_tb_pkg.sv", *_MODULES, *_BENCH)
    return sources | {FILE_LIST: "".join(f"{name}\n" for name in listed).encode()}


def testbench_text(sizes: Sizes) -> str:
    """The package of the testbench."""
    tables, constants = sizes.tables, network_of(sizes)
    lines = [f"// {NOTE}", "// verilator lint_off UNUSEDPARAM", "// verilator lint_off UNUSEDSIGNAL", "package certree_tb_pkg;"]
    for name, value in constants.items():
        if isinstance(value, int):
            lines.append(f"  localparam int {name} = {value};")
        else:
            given = list(value) or [0]
            lines.append(f"  localparam int {name}[{len(given)}] = '{{{', '.join(map(str, given))}}};")
    bits = sizes["GRANULE_BITS"]
    chunk = f"(a / {sizes['CHUNK_GRANULES']}) % {sizes['FLOWS']}"
    if tables.profile is Profile.BLOCKS:
        promised, is_due = _BLOCKS_PROMISED, _BLOCKS_DUE
    else:
        promised = (
            "for (int other = 0; other < NIS; other++) if (IS_MEMBER[other] != 0) found = added(found, initial_granule(other, a));"
        )
        if not tables.collective.reduces:
            promised = f"found = initial_granule(ROOT[{chunk}], a);"
        due = "1" if tables.collective.gathers else f"ni == ROOT[{chunk}]"
        is_due = f"is_due = a < RESULT_GRANULES && IS_MEMBER[ni] != 0 && {due};"
    lines.append(
        f"""
  // SplitMix64 of the interface, the granule and the place in it.
  function automatic logic [{bits - 1}:0] initial_granule(int ni, int a);
    automatic logic [63:0] z;
    for (int low = 0; low < {bits}; low += 8) begin
      z = 64'h9e3779b97f4a7c15 * ((64'(ni) << 48) + (64'(a) << 8) + 64'(low) + 1);
      z = (z ^ (z >> 30)) * 64'hbf58476d1ce4e5b9;
      z = (z ^ (z >> 27)) * 64'h94d049bb133111eb;
      initial_granule[low+:8] = 8'(z ^ (z >> 31));
    end
  endfunction

  function automatic logic [{bits - 1}:0] added(logic [{bits - 1}:0] a, logic [{bits - 1}:0] b);
    for (int low = 0; low < {bits}; low += {sizes["ELEMENT_BITS"]}) begin
      added[low+:{sizes["ELEMENT_BITS"]}] = a[low+:{sizes["ELEMENT_BITS"]}] + b[low+:{sizes["ELEMENT_BITS"]}];
    end
  endfunction

  // Whether granule a of the memory of an interface is one of a result that is due there, and what it is then.
  function automatic bit is_due(int ni, int a);
    is_due = 0;
    {is_due}
  endfunction

  function automatic logic [{bits - 1}:0] promised(int ni, int a);
    automatic logic [{bits - 1}:0] found = '0;
    {promised}
    return found;
  endfunction
endpackage"""
    )
    return "\n".join([*lines, ""])


def network_of(sizes: Sizes) -> dict[str, int | Iterable[int]]:
    """Names and numbers of the network: lists by interface, lane, pair of nodes or chunk; see `certree_network.sv`."""
    tables, machine = sizes.tables, sizes.tables.machine
    topology, endpoints = tables.topology, tables.topology.endpoints.tolist()
    rank = {node: ni for ni, node in enumerate(endpoints)}
    first = np.concatenate(([0], np.cumsum(topology.pair_capacity))).tolist()
    ports = port_numbers(topology)
    most_ports = int(ports.max(initial=0)) + 1
    port_pair = np.zeros((len(topology.kind), most_ports), np.int64)
    port_pair[topology.src, ports] = topology.pair_of_link
    leaving, coming = (lanes_of(tables, side) for side in ("src", "dst"))
    tx = [(pair, lane) for node in endpoints for pair, lane in leaving[node] + [(0, 0)] * (sizes["TX_LANES"] - len(leaving[node]))]
    receiving = {pair: place for node in endpoints for place, (pair, lane) in enumerate(coming[node]) if lane == 0}
    nodes, rows, arrivals, _, _, peers = zip(*interfaces(sizes), strict=True)
    crossing = (link_cycles(topology, machine) + machine.router_cycles).tolist()
    longest = sizes["HOPS"] * (max(crossing, default=0) + sizes["MESSAGE_FLITS"]) + machine.interface_cycles + machine.router_cycles
    lanes = max(1, first[-1])
    roots, members = tables.schedule.chunk_root.tolist(), set(tables.members.tolist())
    slots = int(tables.step.max(initial=0)) + 1 + (tables.repeats - 1) * sizes["PERIOD"]
    return {
        "NIS": len(endpoints),
        "PORTS": most_ports,
        "LANES": lanes,
        "END_CYCLES": machine.interface_cycles + machine.router_cycles,
        "MESSAGES": 8 + lanes * (2 + longest // sizes["MESSAGE_FLITS"]),
        "MEMORY_DEPTH": sizes["MEMORY_GRANULES"] + (1 << sizes["RX_LANE_BITS"] + sizes["STAGED_CHUNK_BITS"] + sizes["STAGED_BITS"]),
        "RESULT_GRANULES": sizes["WORK_BASE"],
        "TIME_LIMIT": _LIMIT * slots * tables.slot_cycles + longest + 10_000,
        "HAS_EPOCH": int(tables.epoch is not None),
        "ARM_CYCLES": 4 + (sizes["WINDOW_ROWS"] + 1) * (sizes["ARRIVALS"] + 4) + 2 * sizes["ROWS"] * sizes["STAGES"],
        "HAS_ROUTES": int(bool(tables.routes)),
        "ROUTES_USED": len(tables.routes),
        "NODE_OF": nodes,
        "NI_OF": [rank.get(node, 0) for node in range(len(topology.kind))],
        "ROOT": [rank.get(root, -1) for root in roots],
        "IS_MEMBER": [int(node in members) for node in endpoints],
        **_blocks(tables, rank),
        "ROWS_OF": rows,
        "ARRIVALS_OF": arrivals,
        "HEADER_WORDS": len(HEADER_WORDS) - 1,
        "HEADER_OF": [word for words in header_words(sizes).values() for word in words],
        "LANE_PEER": [peer for lane in peers for peer in lane],
        "PAIR_DST": topology.pair_dst.tolist(),
        "PAIR_FIRST": first[:-1],
        "PAIR_LANES": topology.pair_capacity.tolist(),
        "PAIR_CROSSING": crossing,
        "PAIR_RX": [receiving.get(pair, 0) for pair in range(len(topology.pair_dst))],
        "PORT_PAIR": port_pair.reshape(-1).tolist(),
        "TX_PAIR": [pair for pair, _ in tx],
        "TX_LANE": [lane for _, lane in tx],
    }


def _blocks(tables: Tables, rank: dict[int, int]) -> dict[str, int | list[int]]:
    """The chunks of tables of `blocks` in each iteration, with their places at their source and at their target (D3, D7)."""
    if tables.profile is not Profile.BLOCKS:
        return {}
    assert tables.chunk_root is not None
    assert tables.chunk_target is not None
    granules, iterations = tables.sizes(np.arange(tables.chunks, dtype=np.int32)), np.arange(tables.repeats)[:, None]
    starts, ends = (first + iterations * layout(tables).stride for first in block_addresses(tables))
    return {
        "BLOCKS": starts.size,
        "BLOCK_OF": [rank[node] for node in tables.chunk_root.tolist()] * tables.repeats,
        "BLOCK_TO": [rank[node] for node in tables.chunk_target.tolist()] * tables.repeats,
        "BLOCK_FROM": starts.reshape(-1).tolist(),
        "BLOCK_AT": ends.reshape(-1).tolist(),
        "BLOCK_GRANULES": granules.tolist() * tables.repeats,
    }


def is_executable(sizes: Sizes) -> bool:
    """Whether the reference interface executes the tables: on links of whole units of speed, in messages with a header flit, in
    fine slots only where it reads the rows in time."""
    tables = sizes.tables
    return sizes.is_in_time and tables.topology.scale == 1 and tables.machine.head_flits > 0
