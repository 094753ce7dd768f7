"""Damaged files for every reader and every form of schedule: a result or one line of error, in time, never a traceback.

`python -m tests.fuzz.readers SECONDS [NAME ...]` shares that time among all subjects, or those whose names begin with a NAME, and
prints what came of their files. Faults are drawn from seeds that never change; how many are tried depends on the time. Files that
take longer than a limit, or end with a traceback, are written to `build/fuzz`; `tests/fuzz/corpus` has files that did so once,
named `READER.FORM.FAULT`.
"""

import contextlib
import io
import json
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import certree.api as ct
from certree.cli.main import run
from certree.extras.aggregation.model.aggregation_traces import load_aggregation_trace
from certree.extras.costs.model.cost_model import load_parameters
from certree.extras.costs.model.fitting.measurements import read_measurements
from certree.extras.endpoints.model.endpoint_traces import load_endpoint_trace
from certree.extras.endpoints.model.whole_trace import load_whole_trace
from certree.extras.reports.pictures.trace_timeline import timeline_picture
from certree.extras.sweeps.run.specification import read_specification
from certree.extras.tla.check.traces.interfaces import load_trace
from certree.extras.training.model.workload_file import load_workload
from certree.hw.routers.packets import read_packets
from certree.hw.tables.directory import MANIFEST
from certree.hw.tables.manifest import file_entry
from certree.models.machine.machine import load_machine
from certree.models.traces.flits import load_flit_trace
from tests.extras.clusters.imports.test_edits import SUBJECTS
from tests.extras.runtimes.check.others.test_old_plans import plan as old_plan
from tests.fuzz import forms
from tests.fuzz.mutations import damaged
from tests.fuzz.worker import OUTCOMES, Reader, Worker

CORPUS = Path(__file__).parent / "corpus"
ROOT = Path(__file__).parents[2]
IMPORTS = ROOT / "tests/extras/clusters/imports"


@dataclass(frozen=True)
class Subject:
    """A reader with a right file for it. `name`: READER.FORM; `suffix`: the end of the file's name."""

    name: str
    suffix: str
    right: bytes
    read: Reader


def certree(*arguments: object) -> int:
    """The exit code of a command, in this process."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        return run([str(one) for one in arguments])


def verify(path: Path, *options: object) -> int:
    """What `certree verify` answers."""
    return certree("verify", path, "--json", *options)


def subjects(folder: Path) -> dict[str, Subject]:
    """All subjects, by name; their right files are made in the folder."""
    found = [*_schedules(folder), *_tables(folder), *_programs(folder), *_evidence(folder), *_inputs(), *_traces(folder)]
    return {subject.name: subject for subject in found}


def _schedules(folder: Path) -> Iterator[Subject]:
    for form, make in forms.FORMS.items():
        ct.save(make(), folder / f"{form}.json")
        yield Subject(f"schedule.{form}", ".json", (folder / f"{form}.json").read_bytes(), verify)
    fine = (folder / "fine.json").read_bytes()
    for command, file in (("certify", "c.json"), ("export", "t")):
        yield Subject(f"{command}.fine", ".json", fine, _writing(command, file))
    for form in ("algorithm", "fine"):
        for suffix in (".npz", ".json.gz"):
            file = folder / f"{form}{suffix}"
            ct.save(ct.load(folder / f"{form}.json"), file)  # type: ignore[arg-type]
            yield Subject(f"schedule{suffix.replace('.', '-')}.{form}", suffix, file.read_bytes(), verify)
    for form, text, options in (
        (
            "rows",
            b"chunk,op,src,dst,step\n0,reduce,1,0,0\n0,reduce,3,2,0\n0,reduce,2,0,1\n0,copy,0,1,2\n0,copy,0,2,2\n0,copy,1,3,3\n",
            (),
        ),
        ("paths", b"chunk,op,src,dst,step,path\n0,copy,0,3,0,0>1>3\n0,copy,0,1,1,\n0,copy,0,2,0,\n", ()),
        (
            "buffers",
            b"chunk,op,src,dst,step,src_buffer,dst_buffer\n0,copy,0,1,0,0,1\n0,copy,1,3,1,1,0\n0,copy,0,2,0,0,0\n0,copy,1,1,1,1,0\n",
            ("--route", "shortest"),
        ),
    ):
        asked = ("--topology", "mesh:2x2", "--collective", "all-reduce" if form == "rows" else "broadcast")
        root = () if form == "rows" else ("--root", "0")
        yield Subject(f"csv.{form}", ".csv", text, _verifying(*asked, *root, *options))


def _tables(folder: Path) -> Iterator[Subject]:
    for form, format_, files in (
        ("algorithm", "readmemh", ("manifest.json", "table.json", "node_0000.hex")),
        ("fine", "json", ("manifest.json", "table.json")),
        ("all-to-all", "systemverilog", ("manifest.json",)),
        ("buffers", "readmemh", ("manifest.json", "table.json")),
        ("waits", "json", ("manifest.json",)),
    ):
        tables = folder / f"tables-{form}"
        if certree("export", folder / f"{form}.json", "-o", tables, "--format", format_):
            raise AssertionError(f"no tables of {form}")
        present = [name for name in files if (tables / name).exists()]
        for name in present:
            yield Subject(f"tables-{name.split('.')[0]}.{form}", "", (tables / name).read_bytes(), _in_tables(tables, name))


def _programs(folder: Path) -> Iterator[Subject]:
    made = ct.load(folder / "algorithm.json")
    for name, suffix in (("msccl-xml", ".xml"), ("mscclpp", ".json"), ("jax", ".py"), ("pallas", ".py"), ("pallas-plan", ".json")):
        ct.export_program(made, name, folder / f"program-{name}{suffix}")  # type: ignore[arg-type]
        data = (folder / f"program-{name}{suffix}").read_bytes()
        yield Subject(f"{name}.program", suffix, data, verify)
        yield Subject(f"{name}.schedule", suffix, data, _verifying("--topology", "mesh:2x2"))
    programs = ROOT / "tests/extras/xla/programs"
    for name in ("ring_all_gather", "tree_broadcast"):
        yield Subject(f"stablehlo.{name}", ".mlir", (programs / f"{name}.mlir").read_bytes(), verify)
    yield Subject("mscclpp.old", ".json", json.dumps(old_plan()).encode(), verify)
    for form in ("broadcast", "all-to-all"):
        file = folder / f"{form}.xml"
        ct.export_program(forms.small(form), "msccl-xml", file)
        yield Subject(f"msccl-xml.{form}", ".xml", file.read_bytes(), verify)
    ct.export_program(made, "chakra", folder / "traces")  # type: ignore[arg-type]
    right = (folder / "traces" / "algorithm.0.et").read_bytes()
    yield Subject("chakra.algorithm", ".et", right, _with_other_ranks(folder / "traces"))
    yield Subject("workload.chakra", ".et", forms.training(), lambda path: load_workload(str(path)))


def _evidence(folder: Path) -> Iterator[Subject]:
    ct.bundle(ct.load(folder / "proof.json"), folder / "proof.certree", tla=False)  # type: ignore[arg-type]
    yield Subject("bundle.schedule", ".certree", (folder / "proof.certree").read_bytes(), verify)
    yield Subject("frontier.all-gather", ".json", forms.frontier(), verify)


def _inputs() -> Iterator[Subject]:
    mesh = ct.topology("mesh:2x2")
    with TemporaryDirectory() as temporary:
        for suffix in (".json", ".graphml"):
            file = Path(temporary) / f"network{suffix}"
            ct.save(ct.topology("fattree:2x2"), file)
            yield Subject(f"network.{suffix[1:]}", suffix, file.read_bytes(), _showing)
    yield Subject("network.node-link", ".json", forms.node_link(), _showing)
    yield Subject("network.xml", ".xml", (IMPORTS / "dgx1.xml").read_bytes(), _importing("speed=NV:25GB/s;links=nvlink"))
    for name, (options, _) in SUBJECTS.items():
        file = IMPORTS / "files" / name
        yield Subject(f"network-{file.suffix[1:]}.{file.stem}", file.suffix, file.read_bytes(), _importing(options))
    running = ROOT / "tests/extras/clusters/running/files"
    for name, ends in (("graphs.xml", 8), ("nccl.log", 4), ("rccl.log", 3)):
        file = running / name
        yield Subject(f"running.{file.stem}", file.suffix, file.read_bytes(), _verifying("--topology", f"switch:{ends}"))
    machine = (ROOT / "models/machine/presets/booksim2.toml").read_bytes()
    yield Subject("machine.toml", ".toml", machine, lambda path: load_machine(str(path)))
    for form in ("repeats", "algorithm"):
        yield Subject(f"machine.{form}", ".toml", machine, _on_machine(form))
    for name in ("gentree", "ace", "netreduce"):
        data = (ROOT / f"extras/costs/model/presets/{name}.toml").read_bytes()
        yield Subject(f"cost.{name}", ".toml", data, lambda path: load_parameters(str(path)))
    workload = (ROOT / "extras/training/model/presets/alexnet.toml").read_bytes()
    for form, suffix, text in (
        ("toml", ".toml", workload),
        ("scale-sim", ".csv", forms.SCALE_SIM.encode()),
        ("astra-sim", ".txt", forms.ASTRA.encode()),
    ):
        yield Subject(f"workload.{form}", suffix, text, lambda path: load_workload(str(path)))
    packets = b"id,src,dst,flits,start\n0,0,1,4,0\n1,2,3,1,9\n"
    yield Subject("packets.csv", ".csv", packets, lambda path: read_packets(path, mesh))
    measured = b"benchmark,participants,floats,seconds\nco-located-ps,8,10000000,0.203\nexchange,4,4096,0.001\n"
    yield Subject("measurements.csv", ".csv", measured, read_measurements)
    yield Subject("demand.csv", ".csv", b"0,64,32,0\n0,0,16,16\n48,0,0,16\n16,16,16,0\n", lambda path: ct.demand(path, mesh))
    yield Subject("sweep.toml", ".toml", ct.sweep_example().encode(), read_specification)


def _traces(folder: Path) -> Iterator[Subject]:
    ct.simulate(ct.load(folder / "algorithm.json"), trace=folder / "trace")  # type: ignore[arg-type]
    ct.endpoints("ring:3", payloads=["4KiB"], systems=["ace"], method="ring", chunk="4KiB", trace=folder / "endpoints")
    ct.inject("mesh:2x2", ct.Traffic(flits=3, cycles=40, warmup=0), trace_flits=folder / "flits")
    ct.aggregate("switch:4,reducing=switches", size="1KiB", trace=folder / "aggregation")
    ring = ct.synthesize("ring:3", method="ring", size="192B")
    ct.simulate(ring, run="paced", endpoint="ace", trace=folder / "whole", trace_flits=folder / "whole")
    readers = (("trace", load_trace), ("endpoints", load_endpoint_trace), ("flits", load_flit_trace), ("whole", load_whole_trace))
    for name, read in (*readers, ("aggregation", load_aggregation_trace)):
        yield Subject(f"trace.{name}", "", (folder / name).read_bytes(), read)
    yield Subject("trace.timeline", "", (folder / "whole").read_bytes(), lambda path: timeline_picture(path, None))


def _showing(path: Path) -> int:
    return certree("topology", "show", path)


def _importing(options: str) -> Reader:
    return lambda path: certree("topology", "show", ",".join([str(path), *filter(None, options.split(";"))]))


def _verifying(*options: object) -> Reader:
    return lambda path: verify(path, *options)


def _writing(command: str, file: str) -> Reader:
    def read(path: Path) -> int:
        with TemporaryDirectory() as temporary:
            return certree(command, path, "-o", Path(temporary) / file)

    return read


def _on_machine(form: str) -> Reader:
    """A schedule on the machine of a damaged file."""

    def read(path: Path) -> int:
        return verify(path.parent / f"{form}.json", "--params", path, "--size", "1MiB")

    return read


def _with_other_ranks(traces: Path) -> Reader:
    """A damaged trace of rank 0 with the right ones of the others."""

    def read(path: Path) -> int:
        with TemporaryDirectory() as temporary:
            together = Path(shutil.copytree(traces, Path(temporary) / "traces"))
            shutil.copy(path, together / "algorithm.0.et")
            return verify(together)

    return read


def _in_tables(tables: Path, name: str) -> Reader:
    """Tables with a damaged file in place of one of theirs."""

    def read(path: Path) -> int:
        with TemporaryDirectory() as temporary:
            together = Path(shutil.copytree(tables, Path(temporary) / "tables"))
            shutil.copy(path, together / name)
            if name != MANIFEST:  # the manifest says what it is
                manifest = json.loads((together / MANIFEST).read_bytes())
                manifest["files"][name] = file_entry(path.read_bytes())
                (together / MANIFEST).write_text(json.dumps(manifest))
            return verify(together)

    return read


def cases(subject: Subject, rng: Random) -> Iterator[bytes]:
    """Damaged files without end."""
    while True:
        yield damaged(rng, subject.right, subject.suffix)


def fuzz(subject: Subject, worker: Worker, folder: Path, until: Callable[[], bool]) -> Counter[str]:
    """What came of damaged files of one subject; the first file of each kind of failure is kept."""
    found, path = Counter[str](), folder / f"damaged{subject.suffix}"
    for number, data in enumerate(cases(subject, Random(subject.name))):
        if until():
            break
        path.write_bytes(data)
        came = worker.outcome(subject.name, path)
        if came not in OUTCOMES.values() and came not in found:
            place = Path("build/fuzz") / f"{subject.name}.{number}{subject.suffix}"
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
            sys.stdout.write(f"{subject.name}: {came} ({place})\n")
        found[came] += 1
    return found


def main(seconds: float, names: list[str]) -> int:
    """Fuzz all subjects, or those that are named; 1 where one failed."""
    total = Counter[str]()
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        known = subjects(folder)
        chosen = [one for one in known.values() if not names or any(one.name.startswith(name) for name in names)]
        with Worker({one.name: one.read for one in known.values()}) as worker:
            for number, one in enumerate(chosen):
                begin, share = time.monotonic(), seconds / len(chosen)
                found = fuzz(one, worker, folder, lambda begin=begin, share=share: time.monotonic() - begin > share)  # type: ignore[misc]
                total += found
                sys.stdout.write(f"{number + 1:>3} {one.name:28} {_words(found)}\n")
                sys.stdout.flush()
    sys.stdout.write(f"    {'all':28} {_words(total)}\n")
    return int(total.keys() > set(OUTCOMES.values()) or bool(total.keys() - set(OUTCOMES.values())))


def _words(found: Counter[str]) -> str:
    timeouts = found["time-out"]
    failed = found.total() - sum(found[one] for one in OUTCOMES.values()) - timeouts
    parts = [f"{found.total():>7,} files:", *(f"{found[one]:>7,} {one}," for one in OUTCOMES.values())]
    return " ".join([*parts, f"{timeouts} time-outs, {failed} tracebacks"])


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]), sys.argv[2:]))
