"""Damaged files for every reader: one line of error or a result, never a traceback.

`python -m tests.fuzz.readers SECONDS [NAME ...]` runs each reader that long and prints how many files it read, refused
and crashed on; files that crash are written to `build/fuzz`. `tests/fuzz/corpus` has files that crashed
readers once, named `READER.WHATEVER`.
"""

import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import certree.api as ct
from certree.api.runtimes.kinds import kind_of
from certree.api.runtimes.programs import verify_program
from certree.hw.routers.packets import read_packets
from certree.hw.tables.directory import read_tables
from certree.models.common.errors import CertreeError
from certree.models.cost.fitting.measurements import read_measurements
from certree.models.machine.machine import load_machine
from certree.models.network.topology_file import load_topology
from certree.models.programs.algorithm import algorithm_of
from certree.models.schedule.collective import parse_collective
from certree.models.schedule.schedule_csv import load_schedule_csv
from certree.models.schedule.symmetric.symmetric_file import load_any_schedule
from certree.models.traces.endpoints import load_endpoint_trace
from certree.models.traces.flits import load_flit_trace
from certree.models.traces.reducing import load_aggregation_trace
from certree.models.workload.workload_file import load_workload
from certree.verify.tla.traces.interfaces import load_trace

CORPUS = Path(__file__).parent / "corpus"
PRESETS = Path(__file__).parents[2] / "models"
#: texts that replace numbers and words
ODD = (b"-1", b"0", b"1e999", b"NaN", b"9" * 30, b"null", b"[]", b"{}", b'""', b"true", b"1.5", b"\xff\xfe", b"\x00", b"4294967296")
Reader = Callable[[Path], object]


def readers() -> dict[str, tuple[str, Reader]]:
    """The end of the file's name and the function of each reader."""
    mesh = ct.topology("mesh:2x2")
    return {
        "schedule": (".json", load_any_schedule),
        "schedule-npz": (".npz", load_any_schedule),
        "schedule-csv": (".csv", lambda path: load_schedule_csv(path, mesh, parse_collective("all-reduce"))),
        "topology": (".json", load_topology),
        "graphml": (".graphml", load_topology),
        "machine": (".toml", lambda path: load_machine(str(path))),
        "workload": (".toml", lambda path: load_workload(str(path))),
        "msccl-xml": (".xml", verify_program),
        "mscclpp": (".json", lambda path: verify_program(path) if kind_of(path) else None),
        "chakra": (".et", _with_other_ranks),
        "packets": (".csv", lambda path: read_packets(path, mesh)),
        "measurements": (".csv", read_measurements),
        "bundle": (".certree", ct.read_bundle),
        "trace": ("", load_trace),
        "endpoint-trace": ("", load_endpoint_trace),
        "aggregation-trace": ("", load_aggregation_trace),
        "flit-trace": ("", load_flit_trace),
        "manifest": ("", lambda path: _in_tables(path, "manifest.json")),
        "table": ("", lambda path: _in_tables(path, "table.json")),
        "rows": ("", lambda path: _in_tables(path, "node_0000.hex")),
    }


def seeds(folder: Path) -> dict[str, bytes]:
    """A right file for each reader."""
    made = ct.synthesize("mesh:2x2", method="multitree", size="1KiB")
    for suffix in (".json", ".npz"):
        ct.save(made, folder / f"made{suffix}", force=True)
    for suffix in (".json", ".graphml"):
        ct.save(ct.topology("mesh:2x2"), folder / f"network{suffix}", force=True)
    ct.bundle(made, folder / "made.certree", tla=False, force=True)
    ct.simulate(made, trace=folder / "trace", force=True)
    ct.endpoints("ring:3", payloads=["4KiB"], systems=["ace"], method="ring", chunk="4KiB", trace=folder / "endpoints", force=True)
    ct.inject("mesh:2x2", ct.Traffic(flits=3, cycles=40, warmup=0), trace_flits=folder / "flits", force=True)
    ct.aggregate("switch:4,reducing=switches", size="1KiB", trace=folder / "aggregation", force=True)
    ct.export(made, folder=folder / "tables", force=True)
    programs: dict[str, bytes] = {}
    for name, file in (("msccl-xml", "made.xml"), ("mscclpp", "plan.json")):
        ct.export_program(made, name, folder / file, force=True)
        programs[name] = (folder / file).read_bytes()
    ct.export_program(made, "chakra", folder / "traces")
    programs["chakra"] = (folder / "traces" / "algorithm.0.et").read_bytes()
    return {
        "schedule": (folder / "made.json").read_bytes(),
        "schedule-npz": (folder / "made.npz").read_bytes(),
        "schedule-csv": b"chunk,op,src,dst,step\n0,reduce,0,1,0\n0,copy,1,0,1\n",
        "topology": (folder / "network.json").read_bytes(),
        "graphml": (folder / "network.graphml").read_bytes(),
        "machine": (PRESETS / "machine/presets/booksim2.toml").read_bytes(),
        "workload": (PRESETS / "workload/presets/alexnet.toml").read_bytes(),
        "packets": b"id,src,dst,flits,start\n0,0,1,4,0\n1,2,3,1,9\n",
        "measurements": b"benchmark,participants,floats,seconds\nco-located-ps,8,10000000,0.203\nexchange,4,4096,0.001\n",
        **programs,
        "bundle": (folder / "made.certree").read_bytes(),
        "trace": (folder / "trace").read_bytes(),
        "endpoint-trace": (folder / "endpoints").read_bytes(),
        "flit-trace": (folder / "flits").read_bytes(),
        "aggregation-trace": (folder / "aggregation").read_bytes(),
        **{
            name: (folder / "tables" / file).read_bytes()
            for name, file in (("manifest", "manifest.json"), ("table", "table.json"), ("rows", "node_0000.hex"))
        },
    }


def _with_other_ranks(path: Path) -> object:
    """Read a damaged trace of rank 0 with the right ones of the others."""
    files = {f"{rank}": (path.parent / "traces" / f"algorithm.{rank}.et").read_bytes() for rank in range(1, 4)}
    return algorithm_of({"0": path.read_bytes()} | files, str(path))


def _in_tables(path: Path, name: str) -> object:
    """Read the tables next to a damaged file with that file in place of one of theirs."""
    place = path.parent / "tables" / name
    right = place.read_bytes()
    try:
        place.write_bytes(path.read_bytes())
        return read_tables(place.parent)
    finally:
        place.write_bytes(right)


def damaged(rng: Random, data: bytes) -> bytes:
    """The bytes with one to four faults."""
    for _ in range(rng.randint(1, 4)):
        at, end = sorted((rng.randint(0, len(data)), rng.randint(0, len(data))))
        near = min(len(data), at + rng.randint(1, 8))
        options = (
            data[:at],
            data[:at] + data[near:],
            data[:at] + bytes([rng.randrange(256)]) + data[near:],
            data[:near] + data[at:near] + data[near:],
            data[:at] + data[end:] + data[at:end],
            *(_with_odd_token(rng, data, at) for _ in range(3)),
        )
        data = rng.choice(options)
    return data


def _with_odd_token(rng: Random, data: bytes, at: int) -> bytes:
    """The number or word at some place replaced."""
    letters = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_."
    end = at
    while end < len(data) and data[end] in letters:
        end += 1
    while at > 0 and data[at - 1] in letters:
        at -= 1
    return data[:at] + rng.choice(ODD) + data[end:]


def outcome(read: Reader, path: Path) -> str:
    """`read`, `refused`, or the last line of a traceback."""
    try:
        read(path)
    except CertreeError as error:
        return "refused" if "\n" not in str(error).strip() else f"several lines: {error!r}"
    except RecursionError:
        return "RecursionError"
    except Exception:  # what a user would see as an internal error
        return traceback.format_exc().strip().splitlines()[-1]
    return "read"


def cases(name: str, right: bytes, folder: Path, rng: Random) -> Iterator[tuple[bytes, str]]:
    """Damaged files of a reader without end, and what came of each. The folder is that of `seeds`."""
    suffix, read = readers()[name]
    path = folder / f"damaged{suffix}"
    while True:
        data = damaged(rng, right)
        path.write_bytes(data)
        yield data, outcome(read, path)


def main(seconds: float, names: list[str]) -> int:
    """Fuzz each reader; 1 if one crashed."""
    crashes = 0
    with TemporaryDirectory() as folder:
        right = seeds(Path(folder))
        for name in names or list(readers()):
            found = fuzz(name, right[name], Path(folder), seconds)
            known = found["refused"] + found["read"]
            crashes += found.total() - known
            counts = f"{found.total():>8,} cases, {found['refused']:>8,} refused, {found['read']:>6,} read"
            sys.stdout.write(f"{name:18} {counts}, {found.total() - known:>4} crashes\n")
            sys.stdout.flush()
    return int(crashes > 0)


def fuzz(name: str, right: bytes, folder: Path, seconds: float) -> Counter[str]:
    """What came of damaged files of one reader; the first file of each kind of crash is kept."""
    found, begin = Counter[str](), time.monotonic()
    for number, (data, came) in enumerate(cases(name, right, folder, Random(name))):
        if came not in ("read", "refused") and came not in found:
            place = Path("build/fuzz") / f"{name}.{number}"
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
            sys.stdout.write(f"{name}: {came} ({place})\n")
        found[came] += 1
        if time.monotonic() - begin > seconds:
            break
    return found


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]), sys.argv[2:]))
