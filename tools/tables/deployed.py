"""`python -m tools.tables.deployed FILE [NETWORK ...]`: which collectives meet their bounds on networks that people have.

Rows of the networks that are named, or of all, are put into FILE; its other rows stay, so that the table can be made in parts. Each
attempt of a method runs in a process of its own and may take SECONDS of CPU time.
"""

import json
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from certree.cli.words.terminal import note
from certree.models.common.errors import UndecidedError, UnsupportedError
from certree.models.common.files import write_atomically
from certree.models.machine.machine import load_machine
from certree.models.machine.speeds import with_speeds_of
from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import WITH_ONE_ROOT, CollectiveKind, parse_collective
from certree.synth.bounds.find import find_bounds
from certree.synth.method import Request, load_methods
from certree.verify.certificates.certificate import make_certificate
from certree.verify.checker import verify_schedule
from certree.verify.deadlock.freedom import deadlock_of_schedule

SECONDS = 10
MESSAGE = 1 << 30
#: the network -> what it is
NETWORKS = {
    "torus:8x8": "64 nodes",
    "twisted-torus:4x4x8": "TPU v4 slice, 128 nodes",
    "full-mesh:8x8": "UB-Mesh rack, 64 nodes",
    "kautz:3x4": "108 nodes",
    "slimfly:5": "50 nodes",
    "jellyfish:50x7x1": "50 nodes",
    "dragonfly:9x4x2@2": "Kim et al., 72 endpoints",
    "hyperx:4x4@4": "64 endpoints",
    "fattree:8x8": "64 endpoints",
    "nvl72": "72 GPUs",
    "a100:16": "128 GPUs",
    "h100:16": "128 GPUs",
    "h100:16@leaf4/2": "128 GPUs",
    "mi250:2@switch": "32 GPUs",
    "mi250:8": "128 GPUs",
    "mi300x:16": "128 GPUs",
}
SHORT = {
    CollectiveKind.ALL_REDUCE: "AR",
    CollectiveKind.ALL_GATHER: "AG",
    CollectiveKind.REDUCE_SCATTER: "RS",
    CollectiveKind.BROADCAST: "BC",
    CollectiveKind.REDUCE: "RE",
    CollectiveKind.GATHER: "GA",
    CollectiveKind.SCATTER: "SC",
    CollectiveKind.ALL_TO_ALL: "AA",
}
MET = "="
HEAD = f"""# Networks that people have

Which collectives meet their bounds: AR all-reduce, AG all-gather, RS reduce-scatter, BC broadcast, RE reduce, GA gather, SC
scatter, AA all-to-all; root 0. Messages of 1 GiB, machine `multitree` with the speeds that a network states.

| cell | |
|---|---|
| `=` | the bandwidth time is equal to the best bound found, which was re-checked |
| 5.0 % | it is that far above |
| – | no schedule: all methods refuse, or take more than {SECONDS} CPU seconds each |
| † | routes may deadlock on that machine, or certree did not decide this within the same seconds |

Methods: `symmetric`, `boxes` with `rate=optimal`, `packing` with and without `rate=optimal`; for the last three collectives
`flows`. `python -m tools.tables.deployed FILE [NETWORK]...` writes this page; with names of networks it measures those only.
"""
COLUMNS = f"| network | | {' | '.join(SHORT.values())} |"
DETAILS = "| network | collective | method | bandwidth time | bound, or why there is none |"


@dataclass(frozen=True)
class Attempt:
    """The result of a method: the bandwidth time and the bound, None where it made nothing; `free`: routes free of deadlock, None
    where that is not known; `reason`: why there is nothing."""

    method: str
    time: Fraction | None = None
    bound: Fraction | None = None
    free: bool | None = None
    reason: str = ""

    @property
    def gap(self) -> Fraction:
        """Above the bound, as a part of it."""
        if self.time is None or self.bound is None:
            raise AssertionError("no schedule, no gap")
        return self.time / self.bound - 1

    @property
    def text(self) -> str:
        """The cell."""
        if self.time is None:
            return "–"
        return (MET if not self.gap else f"{float(100 * self.gap):.1f} %") + ("" if self.free else " †")


def attempts(kind: CollectiveKind) -> Iterator[tuple[str, dict[str, str]]]:
    """Methods with options, in the order in which they are tried."""
    if kind in (CollectiveKind.GATHER, CollectiveKind.SCATTER, CollectiveKind.ALL_TO_ALL):
        yield "flows", {}
        return
    yield "symmetric", {}
    yield "boxes", {"rate": "optimal"}
    yield "packing", {"rate": "optimal"}
    yield "packing", {}


def best_of(spec: str, kind: CollectiveKind) -> Attempt:
    """The best attempt; the first that meets the bound ends the search."""
    best, reasons = None, []
    for method, options in attempts(kind):
        made = _in_process(spec, kind, method, options)
        if made.time is None:
            reasons.append(made)
        elif best is None or made.gap < best.gap:
            best = made
        if best is not None and not best.gap:
            break
    return best or reasons[-1]


def _in_process(spec: str, kind: CollectiveKind, method: str, options: dict[str, str]) -> Attempt:
    command = [sys.executable, "-m", "tools.tables.deployed", "attempt", spec, str(kind), method, json.dumps(options)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "OMP_NUM_THREADS": "1"})
    fields = {key: value for line in done.stdout.splitlines() for key, value in json.loads(line).items()}
    if "time" not in fields:
        late = f"more than {SECONDS} CPU seconds" if done.returncode < 0 else ""
        reason = fields.get("reason") or late or f"exit code {done.returncode}: {done.stderr.strip().splitlines()[-1:]}"
        return Attempt(method, reason=str(reason))
    return Attempt(method, Fraction(fields["time"]), Fraction(fields["bound"]), fields.get("free"))


def attempt(spec: str, kind: CollectiveKind, method: str, options: dict[str, str]) -> Iterator[dict[str, object]]:
    """The results of one method for one collective: first the times, then whether routes are free of deadlock; or why not."""
    topology = parse_topology(spec)
    collective = parse_collective(kind, 0 if kind in WITH_ONE_ROOT else None)
    machine = with_speeds_of(topology, load_machine("multitree"))
    try:
        schedule = load_methods()[method](Request(topology, collective, MESSAGE, machine, options=options))
    except (UnsupportedError, UndecidedError) as error:
        yield {"reason": str(error)}
        return
    certificate = make_certificate(schedule, find_bounds(topology.exact, collective, schedule.delay))
    verdict = verify_schedule(schedule.with_certificate(certificate))
    if not verdict.valid or verdict.quality is None:
        raise AssertionError(f"{method} on {spec}: {verdict.violations[:1]}")
    yield {"time": str(verdict.quality.bandwidth_time), "bound": str(verdict.quality.bandwidth_bound)}
    try:
        yield {"free": deadlock_of_schedule(schedule, machine, MESSAGE).free}
    except UnsupportedError:
        return


def rows_of(spec: str) -> tuple[str, list[str]]:
    """The row of a network, and a line for each cell that does not meet its bound."""
    cells = {kind: best_of(spec, kind) for kind in SHORT}
    details = []
    for kind, cell in cells.items():
        if cell.time is None:
            details.append(f"| `{spec}` | {kind} | `{cell.method}` | – | {cell.reason} |")
        elif cell.gap:
            details.append(f"| `{spec}` | {kind} | `{cell.method}` | {cell.time} | {cell.bound} |")
    return f"| `{spec}` | {NETWORKS.get(spec, '')} | {' | '.join(cell.text for cell in cells.values())} |", details


def page(text: str, fresh: dict[str, tuple[str, list[str]]]) -> str:
    """The page with these rows in place of those of the same networks in `text`, the page before."""
    above, _, below = text.partition(DETAILS)
    rows = {line.split("`")[1]: line for line in above.splitlines() if line.startswith("| `")}
    details: dict[str, list[str]] = {}
    for line in below.splitlines():
        if line.startswith("| `"):
            details.setdefault(line.split("`")[1], []).append(line)
    for spec, (row, more) in fresh.items():
        rows[spec], details[spec] = row, more
    order = [spec for spec in NETWORKS if spec in rows]
    lines = [COLUMNS, "|---" * (2 + len(SHORT)) + "|", *(rows[spec] for spec in order)]
    missing = [f"`{spec}`" for spec in NETWORKS if spec not in rows]
    lines += ["", f"Not computed yet: {', '.join(missing)}."] if missing else []
    lines += ["", DETAILS, "|---" * 5 + "|", *(line for spec in order for line in details.get(spec, []))]
    return f"{HEAD}\n" + "\n".join(lines) + "\n"


def main(arguments: list[str]) -> None:
    """Put rows into a file, or (attempt) print what one method makes."""
    if arguments[:1] == ["attempt"]:
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))
        _, spec, kind, method, options = arguments
        for fields in attempt(spec, CollectiveKind(kind), method, json.loads(options)):
            print(json.dumps(fields), flush=True)
        return
    file = Path(arguments[0])
    for spec in arguments[1:] or NETWORKS:
        note(spec)
        fresh = {spec: rows_of(spec)}
        write_atomically(file, page(file.read_text() if file.exists() else "", fresh).encode(), force=True)


if __name__ == "__main__":
    main(sys.argv[1:])
