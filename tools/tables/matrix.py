"""`python -m tools.tables.matrix`: every method on every kind of network, each cell verified, as a table.

A cell holds the collectives whose schedules are valid on all sizes of that network; a collective in brackets is supported for some
of the sizes only. The reasons of empty cells and of collectives missing in other cells are below the table, except where a method
does not make a collective at all. `auto` only chooses among the others, and `relays` and `apart` are for collectives of some
endpoints.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from certree.cli.words.terminal import note, say
from certree.models.common.errors import UndecidedError, UnsupportedError
from certree.models.machine.machine import load_machine
from certree.models.machine.speeds import with_speeds_of
from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import WITH_ONE_ROOT, Collective, CollectiveKind
from certree.synth.method import Request, load_methods
from certree.synth.monitor import Monitor
from certree.verify.checker import verify_schedule

#: kind of network -> small instances: more than one size, and damaged ones, where that makes a difference
NETWORKS = {
    "ring": ("ring:5", "ring:8"),
    "mesh": ("mesh:3x4", "mesh:4x4"),
    "torus": ("torus:4x4", "torus:2x3x4"),
    "damaged grid": ("torus:4x4,without-link=0-1", "mesh:3x3,without-node=4"),
    "hypercube": ("hypercube:3", "hypercube:4"),
    "full": ("full:5", "full:8"),
    "Cayley graph": ("cayley:10@1+3", "cayley:102+021"),
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
NOT_MADE = " does not make "  # of a reason: it is the collective, not the network
LEFT_OUT = ("auto", "relays", "apart")  # the one chooses among the others, the others are for some endpoints only
ROOT = 1  # of the collectives that have one
MESSAGE = 1 << 16


@dataclass
class Cell:
    """A method on a kind of network: collectives -> sizes verified; (size, collective) -> why not; invalid schedules."""

    sizes: int
    verified: dict[CollectiveKind, int] = field(default_factory=dict)
    reasons: dict[tuple[str, CollectiveKind], str] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The cell in the table."""
        shown = [
            short if self.verified[kind] == self.sizes else f"({short})" for kind, short in SHORT.items() if kind in self.verified
        ]
        return " ".join(shown) or EMPTY

    @property
    def reason(self) -> str:
        """Why the cell is empty; any other reason is preferred over that the method does not make the collective."""
        return next((reason for reason in self.reasons.values() if NOT_MADE not in reason), next(iter(self.reasons.values())))

    @property
    def gaps(self) -> list[tuple[str, str, str]]:
        """(size, collectives, why not) of a cell that is not empty."""
        grouped: dict[tuple[str, str], list[str]] = {}
        for (spec, kind), reason in self.reasons.items():
            if NOT_MADE not in reason:
                grouped.setdefault((spec, reason), []).append(SHORT[kind])
        return [(spec, " ".join(shorts), reason) for (spec, reason), shorts in grouped.items()]


def matrix_cell(method: str, specs: Sequence[str]) -> Cell:
    """Make and verify every collective on each of some networks."""
    cell, make = Cell(len(specs)), load_methods()[method]
    machine = load_machine("multitree")
    for spec in specs:
        topology = parse_topology(spec)
        for kind in CollectiveKind:
            collective = Collective(kind, ROOT if kind in WITH_ONE_ROOT else None)
            try:
                monitor = Monitor(deadline=0.0 if make.is_anytime else None)  # the first schedule of a search will do here
                schedule = make(Request(topology, collective, MESSAGE, with_speeds_of(topology, machine), monitor=monitor))
            except (UnsupportedError, UndecidedError) as error:
                cell.reasons[spec, kind] = str(error).replace(spec, "the network")
                continue
            verdict = verify_schedule(schedule)
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
    yield "# Methods and networks"
    yield ""
    yield "Verified on each network of a column; written by `python -m tools.tables.matrix`, compared by a test."
    yield ", ".join(f"{short} {kind}" for kind, short in SHORT.items()) + "; in brackets: some of the column's sizes only."
    yield "Below are the reasons of empty cells, and of what else a cell lacks though the method makes the collective."
    yield ""
    for network, specs in NETWORKS.items():
        yield f"- {network}: {', '.join(f'`{spec}`' for spec in specs)}"
    yield ""
    yield f"| method | {' | '.join(NETWORKS)} |"
    yield "|---" * (len(NETWORKS) + 1) + "|"
    rows = {}
    for method in methods():
        progress(method)
        rows[method] = {network: matrix_cell(method, specs) for network, specs in NETWORKS.items()}
        yield row_line(method, rows[method])
    yield ""
    yield "| not applicable | on | because |"
    yield "|---|---|---|"
    for method, cells in rows.items():
        yield from empty_lines(method, cells)
    yield ""
    yield "| lacks | on | of these | because |"
    yield "|---|---|---|---|"
    for method, cells in rows.items():
        yield from gap_lines(method, cells)


def row_line(method: str, cells: Mapping[str, Cell]) -> str:
    """A row of the matrix."""
    return f"| {method} | {' | '.join(cell.text for cell in cells.values())} |"


def empty_lines(method: str, cells: Mapping[str, Cell]) -> list[str]:
    """Why cells of a row are empty."""
    networks: dict[str, list[str]] = {}
    for network, cell in cells.items():
        if not cell.verified:
            networks.setdefault(cell.reason, []).append(network)
    return [f"| {method} | {', '.join(names)} | {reason} |" for reason, names in networks.items()]


def gap_lines(method: str, cells: Mapping[str, Cell]) -> list[str]:
    """Why sizes or collectives lack in the other cells of a row."""
    specs: dict[tuple[str, str], list[str]] = {}
    for cell in cells.values():
        for spec, shorts, reason in cell.gaps if cell.verified else ():
            specs.setdefault((shorts, reason), []).append(f"`{spec}`")
    return [f"| {method} | {', '.join(names)} | {shorts} | {reason} |" for (shorts, reason), names in specs.items()]


def main() -> None:
    """Print the table."""
    say("\n".join(matrix_lines(note)))


if __name__ == "__main__":
    main()
