"""Frontiers of small networks: time, memory, proof size and checking time, next to what SCCL takes.

CPU seconds of one process; each frontier starts from nothing (`unaided`) and in a process of its own, so that its peak memory is
its own. SCCL's figures were measured with its public code on a 2-core machine like ours.
"""

import json
import resource
import subprocess
import sys
from time import process_time

import numpy as np

from certree.models.common.files import canonical_json
from certree.models.network.spec import parse_topology
from certree.models.network.topology import Topology
from certree.models.schedule.collective import parse_collective
from certree.synth.exact.frontier_search import FrontierSearch
from certree.synth.method import Monitor
from certree.verify.exact.refutations.refutation import unpack
from certree.verify.frontier.document import check_frontier

#: network, collective, Cmax, SCCL's seconds (None: it never ended or was not run)
FRONTIERS = (
    ("ring:4", "all-gather", 6, None),
    ("ring:8", "all-gather", 6, None),
    ("hypercube:3", "all-gather", 6, None),
    ("dgx1", "all-gather", 6, "20, no proofs"),
    ("torus:4x4", "all-gather", 6, "> 199"),
    ("torus:4x5", "all-gather", 1, "time-out"),
    ("torus:5x5", "all-gather", 1, "time-out"),
    ("torus:6x6", "all-gather", 1, "time-out"),
    ("barbell:3", "all-gather", 4, None),
    ("barbell:4", "all-gather", 3, "never stops"),
    ("ring:4", "all-reduce", 6, None),
    ("ring:5", "all-reduce", 4, None),
    ("ring:8", "all-reduce", 6, "never ends"),
    *((f"ring:{nodes}", "all-reduce", 1, "never ends" if nodes >= 8 else None) for nodes in range(3, 17)),
)
SMOKE = (("ring:4", "all-gather", 6, None), ("ring:8", "all-reduce", 1, "never ends"))


def network(spec: str) -> Topology:
    """A network by name; `barbell:K` is two complete graphs of K nodes with a link between them."""
    if not spec.startswith("barbell:"):
        return parse_topology(spec)
    size = int(spec.removeprefix("barbell:"))
    pairs = [(a, b) for low in (0, size) for a in range(low, low + size) for b in range(low, low + size) if a != b]
    src, dst = zip(*sorted([*pairs, (0, size), (size, 0)]), strict=True)
    full = parse_topology(f"full:{2 * size}")
    columns = [np.array(column, np.int32) for column in (src, dst)]
    return Topology(spec, full.kind, *columns, np.ones(len(src), np.int32), np.full(len(src), -1, np.int32))


def measure(spec: str, collective: str, max_chunks: int) -> dict[str, object]:
    """One frontier, found and checked, in this process."""
    start = process_time()
    search = FrontierSearch(network(spec), parse_collective(collective), max_chunks, 1, Monitor())
    search.run()
    found = search.result
    document = found.document()
    searched = process_time() - start
    if not check_frontier(document, spec).valid:
        raise AssertionError(f"{spec}: the frontier is refuted")
    proofs = [entry["proof"] for entry in document["refuted"]]
    return {
        "points": [entry["point"] for entry in document["points"]],
        "complete": document["complete"],
        "kinds": sorted({proof["kind"] for proof in proofs}),
        "proof_bytes": sum(len(unpack(proof["lines"])) for proof in proofs if "lines" in proof),
        "bundle_bytes": len(canonical_json(document)),
        "search": searched,
        "check": process_time() - start - searched,
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


def frontiers(smoke: bool) -> None:
    """One line for each frontier."""
    print("frontiers with proofs, CPU s; memory MB; proofs in KB of DRAT text")
    print(
        f"{'network':<12} {'collective':<11} {'C':>2} {'search':>7} {'check':>6} {'memory':>6} {'proofs':>7}  {'SCCL s':<14} points"
    )
    for spec, collective, max_chunks, sccl in SMOKE if smoke else FRONTIERS:
        arguments = [sys.executable, __file__, spec, collective, str(max_chunks)]
        done = json.loads(subprocess.run(arguments, capture_output=True, text=True, check=True).stdout)
        points = " ".join("({},{},{})".format(*point) for point in done["points"]) + ("" if done["complete"] else " and undecided")
        print(
            f"{spec:<12} {collective:<11} {max_chunks:>2} {done['search']:>7.2f} {done['check']:>6.2f} {done['memory']:>6} "
            f"{done['proof_bytes'] / 1000:>7.0f}  {sccl or '-':<14} {points}; {', '.join(done['kinds'])}",
            flush=True,
        )


def run(smoke: bool) -> None:
    """The table."""
    frontiers(smoke)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(measure(sys.argv[1], sys.argv[2], int(sys.argv[3]))))
    else:
        run(smoke=False)
