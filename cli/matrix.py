"""`python -m certree.cli.matrix`: every method on every kind of network, each cell judged, as a table.

A cell holds the collectives whose schedules the verifier found right on all sizes of that network; a collective in brackets is
made for some of the sizes only. An empty cell has its reasons below the table. `auto` only chooses among the others.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from certree.cli.terminal import note, say
from certree.models.collective import WITH_ONE_ROOT, Collective, CollectiveKind
from certree.models.errors import UndecidedError, UnsupportedError
from certree.models.machine import load_machine
from certree.models.topology_spec import parse_topology
from certree.synth.method import Request, load_methods
from certree.verify.judge import judge

#: kind of network -> small instances: more than one size, and damaged ones, where that makes a difference
NETWORKS = {
    "ring": ("ring:5", "ring:8"),
    "mesh": ("mesh:3x4", "mesh:4x4"),
    "torus": ("torus:4x4", "torus:2x3x4"),
    "damaged grid": ("torus:4x4,without-link=0-1", "mesh:3x3,without-node=4"),
    "hypercube": ("hypercube:3", "hypercube:4"),
    "full": ("full:5", "full:8"),
    "DGX-1": ("dgx1",),
    "DGX-2": ("dgx2", "dgx2:1"),
    "single switch": ("switch:6", "switch:8", "ss:24"),
    "fat tree": ("fattree:4x4", "fattree:3x2"),
    "leaf-spine": ("leafspine:3x2x4@2",),
    "BiGraph": ("bigraph:2x4", "bigraph:4x8"),
    "tree": ("tree:4x4@10", "tree:3+4@10"),
    "data centres": ("tree:2x3/2x2@10",),
    "package": ("switch-fc:4x3", "switch-fc:8x8"),
    "packages": ("switch-fc:2x2x4x2",),
    "hierarchical torus": ("hier-torus:2x2x4",),
    "ACE torus": ("ace-torus:4x2x2",),
    "ACE alltoall": ("ace-alltoall:4x2",),
    "reducing switches": ("switch:6,reducing=switches", "tree:2x4,reducing=switches"),
}
SHORT = {
    CollectiveKind.ALL_REDUCE: "AR",
    CollectiveKind.REDUCE_SCATTER: "RS",
    CollectiveKind.ALL_GATHER: "AG",
    CollectiveKind.ALL_TO_ALL: "A2A",
    CollectiveKind.BROADCAST: "BC",
    CollectiveKind.REDUCE: "RE",
    CollectiveKind.GATHER: "GA",
    CollectiveKind.SCATTER: "SC",
}
EMPTY = "–"
LEFT_OUT = ("auto",)
ROOT = 1  # of the collectives that have one
MESSAGE = 1 << 16


@dataclass
class Cell:
    """A method on a kind of network: collectives -> sizes verified; why not, for those refused; what the verifier refuted."""

    sizes: int
    verified: dict[CollectiveKind, int] = field(default_factory=dict)
    reasons: dict[CollectiveKind, str] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """What the table shows."""
        shown = [
            short if self.verified[kind] == self.sizes else f"({short})" for kind, short in SHORT.items() if kind in self.verified
        ]
        return " ".join(shown) or EMPTY

    @property
    def reason(self) -> str:
        """Why the cell is empty; that a collective is not made at all says less than anything else."""
        return min(
            self.reasons.values(), key=lambda reason: (" does not make " in reason, list(self.reasons.values()).index(reason))
        )


def matrix_cell(method: str, network: str) -> Cell:
    """Make and judge every collective on every size of a kind of network."""
    specs = NETWORKS[network]
    cell = Cell(len(specs))
    machine = load_machine("multitree")
    for spec in specs:
        topology = parse_topology(spec)
        for kind in CollectiveKind:
            collective = Collective(kind, ROOT if kind in WITH_ONE_ROOT else None)
            try:
                schedule = load_methods()[method](Request(topology, collective, MESSAGE, machine))
            except (UnsupportedError, UndecidedError) as error:
                cell.reasons.setdefault(kind, str(error).replace(spec, "the network"))
                continue
            verdict = judge(schedule)
            if verdict.valid:
                cell.verified[kind] = cell.verified.get(kind, 0) + 1
            else:
                first = verdict.violations[0]
                cell.faults.append(f"{method}, {kind} on {spec}: {first.rule}: {first.message}")
    return cell


def methods() -> list[str]:
    """The rows."""
    return [name for name in load_methods() if name not in LEFT_OUT]


def matrix_lines(progress: Callable[[str], None] = lambda _text: None) -> Iterator[str]:
    """The table and the reasons of its empty cells, as Markdown."""
    yield "# Every method on every kind of network"
    yield ""
    yield "Made and judged on each network of a column; written by `python -m certree.cli.matrix`, compared by a test."
    yield ", ".join(f"{short} {kind}" for kind, short in SHORT.items()) + "; in brackets: some of the column's sizes only."
    yield "An empty cell has its reason below."
    yield ""
    for network, specs in NETWORKS.items():
        yield f"- {network}: {', '.join(f'`{spec}`' for spec in specs)}"
    yield ""
    yield f"| method | {' | '.join(NETWORKS)} |"
    yield "|---" * (len(NETWORKS) + 1) + "|"
    empty: dict[tuple[str, str], list[str]] = {}
    for method in methods():
        progress(method)
        cells = {network: matrix_cell(method, network) for network in NETWORKS}
        yield f"| {method} | {' | '.join(cell.text for cell in cells.values())} |"
        for network, cell in cells.items():
            if not cell.verified:
                empty.setdefault((method, cell.reason), []).append(network)
    yield ""
    yield "| not applicable | on | because |"
    yield "|---|---|---|"
    for (method, reason), networks in empty.items():
        yield f"| {method} | {', '.join(networks)} | {reason} |"


def main() -> None:
    """Print the table."""
    say("\n".join(matrix_lines(note)))


if __name__ == "__main__":
    main()
