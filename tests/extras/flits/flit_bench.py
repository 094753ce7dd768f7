"""A testbench in SystemVerilog for packer, unpacker and turner: it compares their bits with those of the core."""

import re
import subprocess
from pathlib import Path

from certree.extras.flits.model.flit_format import FlitFormat
from certree.extras.flits.run.core_flits import numbers_of, pack, turn
from certree.extras.flits.run.verilog import PACKAGE, modules, write_modules
from tests.extras.flits.flit_draws import Draw, columns_of, inputs, limbs
from tests.rtl.tools import verilator

_BENCH = """
module flit_bench;
  import certree_flit_pkg::*;
  localparam int unsigned PORT_BITS = $clog2(PORTS + 1);
  localparam int unsigned FLIT_BITS = VC_BITS + 3 + DATA_BITS;
  typedef struct packed {
    logic [VC_BITS-1:0] vc; logic [2:0] kind; logic [NODE_BITS-1:0] dest, src; logic [(HOPS+1)*PORT_BITS-1:0] route;
    logic [TREE_BITS-1:0] tree; logic [DATA_BITS-1:0] data; logic [FLIT_BITS-1:0] flit, turned;
  } line_t;
  line_t lines[COUNT];
  line_t now, back;
  logic [FLIT_BITS-1:0] flit, turned;
  logic is_legal;
  certree_flit_packer #(.VC_BITS, .NODE_BITS, .PORTS, .HOPS, .TREE_BITS, .DATA_BITS) packer (
      .vc(now.vc), .kind(now.kind), .dest(now.dest), .src(now.src), .route(now.route), .tree(now.tree), .data(now.data), .flit);
  certree_flit_unpacker #(.VC_BITS, .NODE_BITS, .PORTS, .HOPS, .TREE_BITS, .DATA_BITS) unpacker (
      .flit(now.flit), .vc(back.vc), .kind(back.kind), .dest(back.dest), .src(back.src), .route(back.route), .tree(back.tree),
      .data(back.data), .is_legal);
  certree_flit_turner #(.VC_BITS, .PORTS, .HOPS, .DATA_BITS) turner (.flit(now.flit), .turned);
  assign back.flit = '0;
  assign back.turned = '0;
  int compared = 0, different = 0;
  wire is_head = now.kind == 0;
  wire is_packet = now.kind == 4 || now.kind == 7;
  initial begin
    $readmemh("draws.hex", lines);
    for (int i = 0; i < COUNT; i++) begin
      now = lines[i];
      #1;
      compared++;
      if (flit != now.flit || turned != now.turned || !is_legal || back.vc != now.vc || back.kind != now.kind
          || back.data != now.data || back.dest != (is_packet ? now.dest : '0) || back.src != (is_packet ? now.src : '0)
          || back.tree != (is_head ? now.tree : '0) || back.route != (is_head ? now.route : '0)) different++;
    end
    $display("%0d compared, %0d different", compared, different);
    $finish;
  end
endmodule
"""


def run_flit_bench(folder: Path, layout: FlitFormat, drawn: list[Draw]) -> tuple[int, int]:
    """(compared, different) flits; RuntimeError with what Verilator says of a module, as a warning too."""
    tool = verilator()
    assert tool is not None
    write_modules(folder / "rtl", layout)
    words = pack(layout, columns_of(drawn), limbs([draw.data for draw in drawn], layout))
    lines = []
    for draw, word, turned in zip(drawn, numbers_of(words), numbers_of(turn(layout, words)), strict=True):
        given, line, bits = inputs(draw, layout), 0, 0
        for name in ("vc", "kind", "dest", "src", "route", "tree", "data"):
            width, value = given[name]
            line, bits = line << width | int(value), bits + width
        line, bits = (line << layout.bits | word) << layout.bits | turned, bits + 2 * layout.bits
        lines.append(f"{line:0{-(-bits // 4)}x}")
    (folder / "draws.hex").write_text("\n".join(lines) + "\n")
    (folder / "flit_bench.sv").write_text(_BENCH.replace("[COUNT]", f"[{len(drawn)}]").replace("COUNT", str(len(drawn))))
    for name in modules():
        top = name.removesuffix(".sv")
        _run([tool[0], "--lint-only", "-Wall", f"rtl/{name}", "--top-module", top], folder, tool[1])
    sources = [f"rtl/{PACKAGE}", *(f"rtl/{name}" for name in modules()), "flit_bench.sv"]
    options = ["-CFLAGS", "-O0 -fcoroutines -std=c++20", "-MAKEFLAGS", "CFG_CXXFLAGS_PCH_I=-include"]
    _run([tool[0], "--binary", "-Wno-fatal", *options, *sources, "--top-module", "flit_bench"], folder, tool[1])
    found = re.search(r"(\d+) compared, (\d+) different", _run(["obj_dir/Vflit_bench"], folder, tool[1]))
    assert found is not None
    return int(found[1]), int(found[2])


def _run(command: list[str], folder: Path, environment: dict[str, str]) -> str:
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError((done.stderr or done.stdout)[-2000:])
    return done.stdout
