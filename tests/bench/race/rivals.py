"""Whether method auto keeps its aims: on drawn cells its time next to that of the method it picks, and all rivals by name.

    python -m tests.bench.race.rivals [--smoke] [--count 60] [--seed 0]

Draws `--count` of the 60 cells of NETWORKS, COLLECTIVES and SIZES, and prints a row for each: what auto picks, its cycles over
the time bound, user seconds of auto and of the picked method alone, then the fastest method by name that auto did not time (its
cycles over those of the picked one), how many of these were run, and how many were not, because they take more than
`priced.MOST_SECONDS` or the cell's seconds were spent. Then in how many cells both aims are met: at most 3 times the seconds of the
picked method and 1 s, and no rival more than 1 % faster. Cells without an answer count for neither, cells in
which a rival was not run count for the time alone; both are listed.
"""

import random
import sys
from itertools import product
from typing import Any

from certree.api.reports.text import size_words
from certree.models.schedule.collective import WITH_ONE_ROOT
from certree.synth.bounds.quick import quick_time_bound
from certree.synth.method import METHODS, Tier, load_methods
from tests.bench.small.priced import (
    CELL_SECONDS,
    MOST_SECONDS,
    OneLineParser,
    in_own_process,
    label_parts,
    spent,
    timed,
    timed_within,
)
from tests.synth.execution import ask

NETWORKS = (
    "dgx1", "h100:4", "torus:8x8", "mesh:8x8", "fattree:8x8", "dragonfly:9x4x2@2", "hyperx:8x8@2", "torus:4x4x8", "h100:16",
    "torus:32x32",
)  # fmt: skip
COLLECTIVES = ("all-reduce", "all-gather", "broadcast")
SIZES = (1 << 16, 1 << 26)
#: what is left of a cell's seconds for the rival that is run last, and for the end
_LAST = 5
COLUMNS = (
    "network",
    "collective",
    "size",
    "picked",
    "/ bound",
    "auto s",
    "alone s",
    "(auto - 1) / alone",
    "fastest rival",
    "run",
    "not run",
)


def cell(network: str, collective: str, size: int) -> dict[str, Any]:
    """One row: see the columns; `aims`: whether time and cycles meet theirs."""
    load_methods()
    root = 0 if collective in WITH_ONE_ROOT else None
    request, start = ask(network, collective, size, root=root), spent()
    made = METHODS["auto"](request)
    seconds, told, cycles = spent() - start, made.provenance["auto"], request.cycles(made)
    picked = told["why"].split(": fewest cycles")[0]
    alone = timed(ask(network, collective, size, root=root), label_parts(picked))[1]
    known = {
        label
        for label, said in told["considered"].items()
        if label not in told.get("beyond_budget", {}) and "not tried" not in said
    }
    names = [
        name for name in METHODS if METHODS[name].tier is not Tier.NAMED and request.collective.kind in METHODS[name].collectives
    ]
    rivals = [label for label in dict.fromkeys([*told["considered"], *names]) if label not in known]
    found: list[tuple[int, str]] = []
    missed = 0
    for label in rivals:
        left = min(MOST_SECONDS, CELL_SECONDS - _LAST - (spent() - start))
        rival, ended = (
            timed_within(left, ask(network, collective, size, root=root), label_parts(label)) if left > 0 else (None, False)
        )
        missed += not ended
        found += [] if rival is None else [(rival, label)]
    best = min(found, default=None)
    row = {"picked": picked, "ratio": cycles / quick_time_bound(request), "seconds": seconds, "alone": alone, "not_run": missed}
    row |= {"run": len(rivals) - missed, "best": "" if best is None else f"{best[1]} {best[0] / cycles:.3f}"}
    return row | {"aims": (seconds <= 3 * alone + 1, best is None or 101 * best[0] >= 100 * cycles)}


def rows(cells: list[tuple[str, str, int]]) -> None:
    """Print the table and in how many cells the aims are met."""
    print("|", " | ".join(COLUMNS), "|")
    print("|---" * len(COLUMNS) + "|")
    met, timed_cells, counted, open_cells = [0, 0], 0, 0, []
    for network, collective, size in cells:
        row, name = in_own_process(cell, network, collective, size), f"`{network}` | {collective} | {size_words(size)}"
        if "error" in row:
            print(f"| {name} | {row['error']} |", flush=True)
            open_cells.append(name)
            continue
        times = max(0, (row["seconds"] - 1) / row["alone"]) if row["alone"] > 0 else 0
        numbers = f"{row['ratio']:.3f} | {row['seconds']:.1f} | {row['alone']:.1f} | {times:.1f} | {row['best']} | {row['run']}"
        print(f"| {name} | {row['picked']} | {numbers} | {row['not_run']} |", flush=True)
        timed_cells += 1
        met[0] += row["aims"][0]
        if row["not_run"]:
            open_cells.append(name)
            continue
        counted += 1
        met[1] += row["aims"][1]
    print(f"\nTime: {met[0]} of {timed_cells} cells. Rivals: {met[1]} of {counted} cells.")
    if open_cells:
        print(
            "Not counted among rivals, since not all answered in time: " + "; ".join(one.replace(" |", ",") for one in open_cells)
        )


def main(arguments: list[str]) -> None:
    """Print what the arguments ask for; SystemExit 2, and a line on stderr, where they are not known."""
    parser = OneLineParser("rivals", __doc__)
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    every = [*product(NETWORKS, COLLECTIVES, SIZES)]
    if not 1 <= given.count <= len(every):
        parser.error(f"--count {given.count}; allowed: 1 to {len(every)}")
    if given.smoke:
        rows([("torus:3x3", "all-gather", 1 << 12)])
        return
    rows(random.Random(given.seed).sample(every, given.count))


if __name__ == "__main__":
    main(sys.argv[1:])
