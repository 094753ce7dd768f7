"""Figures of the papers, cell by cell: a target is a TOML file that says what runs on what; what the paper's text states stands
beside what comes out."""

import json
import tomllib
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from fractions import Fraction
from importlib import resources
from pathlib import Path
from typing import Any

from certree.hw.flit_engine import FLOWS, with_flow
from certree.hw.lowering import lower
from certree.hw.plan import Plan
from certree.hw.simulator import RUN_MODES, SimulationResult, simulate
from certree.models.collective import parse_collective
from certree.models.errors import InputError, UnsupportedError
from certree.models.files import canonical_json, parse_size, read_bytes, sha256, write_atomically
from certree.models.machine import Machine, load_machine
from certree.models.schedule import Schedule
from certree.models.topology_spec import parse_topology
from certree.synth.method import Request, load_methods

MEASURES = ("bandwidth", "time", "header")
_KEYS = {"title", "measure", "machine", "networks", "sizes", "bytes_per_node", "lines", "ratios", "stated"}


@dataclass(frozen=True)
class Line:
    """One curve: a method with its options, in message or packet flow, slotted or paced."""

    name: str
    method: str
    flow: str = "message"
    run: str = "paced"
    options: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Target:
    """What a TOML file asks for; `sizes` are bytes, or per node where `per_node`."""

    name: str
    title: str
    measure: str
    machine: str
    networks: tuple[str, ...]
    sizes: tuple[int, ...]
    per_node: bool
    lines: tuple[Line, ...]
    ratios: tuple[Mapping[str, str], ...]
    stated: tuple[Mapping[str, Any], ...]

    def jobs(self) -> Iterator["Job"]:
        """One for each network, line and size."""
        for network in self.networks:
            nodes = len(parse_topology(network).endpoints) if self.per_node else 1
            for line in self.lines:
                for size in self.sizes:
                    yield Job(network, line, size * nodes, self.machine)


@dataclass(frozen=True)
class Job:
    """One simulation; `key` names its result."""

    network: str
    line: Line
    message_bytes: int
    machine: str

    @property
    def key(self) -> str:
        """The same for the same job."""
        line = self.line
        document = [self.network, line.method, line.flow, line.run, list(line.options), self.message_bytes, self.machine]
        return sha256(canonical_json(document))[:20]


def targets() -> list[str]:
    """Names of the target files that come with certree."""
    folder = resources.files("certree.cli") / "targets"
    return sorted(entry.name.removesuffix(".toml") for entry in folder.iterdir() if entry.name.endswith(".toml"))


def load_target(name: str) -> Target:
    """A target by name, or a TOML file; InputError says what is wrong in it."""
    if name in targets():
        data = (resources.files("certree.cli") / "targets" / f"{name}.toml").read_bytes()
    elif name.endswith(".toml"):
        data = read_bytes(Path(name))
    else:
        raise InputError(f"unknown target {name!r}; known: {', '.join(targets())}, or a file ending in .toml")
    try:
        return _target(Path(name).stem, tomllib.loads(data.decode()))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{name} is not TOML: {error}") from None
    except KeyError as error:
        raise InputError(f"{name}: {error} is missing") from None
    except (TypeError, AttributeError) as error:
        raise InputError(f"{name}: a field is of another kind than in the targets that come with certree: {error}") from None


def _target(name: str, document: dict[str, Any]) -> Target:
    unknown = sorted(document.keys() - _KEYS)
    if unknown or ("sizes" in document) == ("bytes_per_node" in document):
        raise InputError(f"{name}: unknown fields {unknown}; one of sizes and bytes_per_node is needed; known: {sorted(_KEYS)}")
    lines = tuple(
        Line(
            **{key: value for key, value in line.items() if key != "options"},
            options=tuple(sorted(line.get("options", {}).items())),
        )
        for line in document.get("lines", [])
    )
    for what, values, known in (
        ("measure", [document["measure"]], MEASURES),
        ("flow", [line.flow for line in lines], FLOWS),
        ("run", [line.run for line in lines], RUN_MODES),
        ("method", [line.method for line in lines], list(load_methods())),
    ):
        wrong = [value for value in values if value not in known]
        if wrong:
            raise InputError(f"{name}: unknown {what} {wrong[0]!r}; known: {', '.join(known)}")
    return Target(
        name=name,
        title=document["title"],
        measure=document["measure"],
        machine=document["machine"],
        networks=tuple(document["networks"]),
        sizes=tuple(parse_size(size) for size in document.get("sizes", [document.get("bytes_per_node")])),
        per_node="bytes_per_node" in document,
        lines=lines,
        ratios=tuple(document.get("ratios", [])),
        stated=tuple(document.get("stated", [])),
    )


def run_job(job: Job) -> dict[str, Any]:
    """Simulated cycles of one job and how it ran, or the reason why there are none.

    What has no tables runs from its own transfers, in slots where it cannot be paced.
    """
    machine = load_machine(job.machine)
    try:
        topology = parse_topology(job.network)
        request = Request(topology, parse_collective("all-reduce"), job.message_bytes, machine, options=dict(job.line.options))
        result = _simulated(load_methods()[job.line.method](request), job, machine)
    except UnsupportedError as error:
        return {"cycles": None, "reason": str(error)}
    if not result.data_ok:
        return {"cycles": None, "reason": "the run ends with wrong data"}
    return {"cycles": result.cycles, "contention_cycles": result.contention_cycles, "run": result.run, "source": result.source}


def _simulated(schedule: Schedule, job: Job, machine: Machine) -> SimulationResult:
    try:
        return simulate(with_flow(lower(schedule, job.message_bytes, machine), job.line.flow), job.line.run)
    except UnsupportedError:
        plan = with_flow(Plan.of(schedule, job.message_bytes, machine), job.line.flow)
    try:
        return simulate(plan, job.line.run)
    except UnsupportedError:
        return simulate(plan, "slotted")


def run_jobs(jobs: list[Job], workers: int, folder: Path | None, tell: Callable[[str], None]) -> dict[str, dict[str, Any]]:
    """Results by key, from `folder` where an earlier run left them; each new one is kept there at once, so that an interrupted
    run goes on where it stopped."""
    results: dict[str, dict[str, Any]] = {}
    for job in jobs:
        if folder is not None and (folder / f"{job.key}.json").is_file():
            results[job.key] = json.loads((folder / f"{job.key}.json").read_text())
    left = {job.key: job for job in jobs if job.key not in results}
    if results:
        tell(f"{len(results)} of {len(jobs)} cells are there already")
    with ProcessPoolExecutor(workers) as pool:
        waiting = {pool.submit(run_job, job): job for job in left.values()}
        try:
            for done in as_completed(waiting):
                job = waiting[done]
                results[job.key] = done.result()
                if folder is not None:
                    write_atomically(folder / f"{job.key}.json", canonical_json(results[job.key]), force=True)
                tell(f"{len(results)} of {len(jobs)}: {job.line.name} on {job.network}, {job.message_bytes} bytes")
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return results


def cells_of(target: Target, results: Mapping[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """`row`, `column`, `paper` (or null), `ours` (or null, with `reason`); rationals as texts."""
    if target.measure == "header":
        return _header_cells(target)
    jobs = list(target.jobs())
    base = results[jobs[0].key]["cycles"]
    cells, cycles = [], {}
    for job in jobs:
        result = results[job.key]
        cycles[job.network, job.line.name, job.message_bytes] = result["cycles"]
        cell: dict[str, Any] = {"row": f"{job.network}/{job.line.name}", "column": job.message_bytes, "paper": None, "ours": None}
        if result["cycles"] is None:
            cell["reason"] = result["reason"]
        else:
            top, bottom = (job.message_bytes, result["cycles"]) if target.measure == "bandwidth" else (result["cycles"], base or 1)
            cell["ours"] = str(Fraction(top, bottom))
            cell |= {name: result[name] for name in ("cycles", "run", "source")}
        cells.append(cell)
    return cells + list(_ratio_cells(target, cycles))


def _ratio_cells(target: Target, cycles: Mapping[tuple[str, str, int], int | None]) -> Iterator[dict[str, Any]]:
    for ratio in target.ratios:
        for network, line, size in cycles:
            if line != ratio["of"] or (network, ratio["over"], size) not in cycles:
                continue
            ours, others = cycles[network, line, size], cycles[network, ratio["over"], size]
            if ours is None or others is None:
                continue
            quotient = Fraction(others, ours) if target.measure == "bandwidth" else Fraction(ours, others)
            row = f"{network}/{line} over {ratio['over']}"
            yield {"row": row, "column": size, "paper": ratio["paper"], "ours": str(quotient), "says": ratio["says"]}


def _header_cells(target: Target) -> list[dict[str, Any]]:
    machine = load_machine(target.machine)
    stated = {entry["column"]: entry for entry in target.stated}
    cells = []
    for size in target.sizes:
        paper = stated.get(size, {})
        ours = Fraction(machine.head_flits * machine.flit_bytes, size)
        cells.append({"row": "header", "column": size, "paper": paper.get("paper"), "ours": str(ours), "says": paper.get("says")})
    return cells


def smaller(target: Target) -> Target:
    """The smoke subset: the first network, and the first and the last size up to 1 MiB."""
    sizes = [size for size in target.sizes if size <= 1 << 20] or list(target.sizes[:1])
    return replace(target, networks=target.networks[:1], sizes=tuple(dict.fromkeys((sizes[0], sizes[-1]))))


def table_of(target: Target, cells: list[dict[str, Any]]) -> str:
    """Rows and columns as a Markdown table; what the paper states stands behind ours, in brackets."""
    columns = sorted({cell["column"] for cell in cells})
    rows = list(dict.fromkeys(cell["row"] for cell in cells))
    found = {(cell["row"], cell["column"]): cell for cell in cells}
    lines = [f"# {target.title}", "", f"| | {' | '.join(map(str, columns))} |", "|---" * (len(columns) + 1) + "|"]
    for row in rows:
        lines.append(f"| {row} | " + " | ".join(_entry(found.get((row, column))) for column in columns) + " |")
    reasons = [f"- {cell['row']}: {cell['reason']}" for cell in cells if "reason" in cell]
    return "\n".join([*lines, "", *dict.fromkeys(reasons)]).rstrip() + "\n"


def _entry(cell: Mapping[str, Any] | None) -> str:
    if cell is None or cell["ours"] is None:
        return "-"
    text = f"{float(Fraction(cell['ours'])):.4g}"
    return text if cell["paper"] is None else f"{text} ({float(Fraction(cell['paper'])):.4g})"
