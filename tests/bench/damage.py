"""A damaged torus: all-reduce time against the number of dead links, ours and MultiTree's, 20 draws each.

    python tests/bench/damage.py [--network torus:8x8] [--draws 20] [--dead 0,1,2,3,5,10] [--size-kib 16384] [-o FOLDER]

Draw d of n dead links has the seed 1000·n + d. With -o the table goes to damage.csv and the plot to damage.svg there.
"""

import argparse
import csv
import statistics
import time
from pathlib import Path

from packing import without_random

from certree.models.collective import Collective, CollectiveKind
from certree.models.machine import load_machine
from certree.models.timing import bandwidth_bound_cycles
from certree.models.topology_spec import parse_topology
from certree.synth.method import Request, load_methods
from certree.synth.packing import network_of

FIELDS = ("dead", "seed", "network", "ours", "multitree", "bound", "cpu_seconds")
ALL_REDUCE = Collective(CollectiveKind.ALL_REDUCE)


def drawn(spec: str, dead: int, seed: int, size: int) -> dict[str, object]:
    """One draw: closed-form cycles of both, and the bandwidth bound by the tight partition in whole cycles."""
    name = without_random(spec, dead, 0, seed)
    request = Request(parse_topology(name), ALL_REDUCE, size, load_machine("multitree"))
    methods = load_methods()
    start = time.process_time()
    ours = request.cycles(methods["packing"](request))
    spent = time.process_time() - start
    bound = bandwidth_bound_cycles(1 / network_of(request.topology).strength, size, request.machine)
    trees = request.cycles(methods["multitree"](request))
    return dict(zip(FIELDS, (dead, seed, name, ours, trees, int(bound), round(spent, 2)), strict=True))


def plot(rows: list[dict[str, object]], spec: str, path: Path) -> None:
    """Every draw as a point, the medians as lines."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4.5))
    counts = sorted({int(str(row["dead"])) for row in rows})
    for key, label in (("multitree", "MultiTree"), ("ours", "packing"), ("bound", "bandwidth bound")):
        series = {n: [int(str(row[key])) for row in rows if row["dead"] == n] for n in counts}
        line = axes.plot(counts, [statistics.median(series[n]) for n in counts], label=label)[0]
        axes.scatter([n for n in counts for _ in series[n]], [v for n in counts for v in series[n]], s=8, color=line.get_color())
    axes.set(xlabel=f"dead links of {spec}", ylabel="all-reduce, cycles", ylim=(0, None))
    axes.legend()
    figure.savefig(path)
    pyplot.close(figure)


def study(spec: str, counts: list[int], draws: int, size: int, folder: Path | None) -> None:
    """The table, one line a count, and with a folder all draws and the plot."""
    print(f"{spec}, all-reduce of {size >> 10} KiB, {draws} draws, seeds 1000·dead + draw")
    print("cycles by closed form, in slots as short as each can have them: median (least to most)")
    print(f"{'dead':>5}{'packing':>32}{'MultiTree':>32}{'times faster':>16}{'over bound':>12}{'CPU s':>7}")
    rows = []
    for dead in counts:
        here = [drawn(spec, dead, 1000 * dead + draw, size) for draw in range(draws if dead else 1)]
        rows += here
        cells = []
        for key in ("ours", "multitree"):
            values = [int(str(row[key])) for row in here]
            cells.append(f"{statistics.median(values):>12,.0f} ({min(values):,} to {max(values):,})")
        faster = statistics.median(int(str(row["multitree"])) / int(str(row["ours"])) for row in here)
        over = statistics.median(int(str(row["ours"])) / int(str(row["bound"])) for row in here)
        spent = statistics.median(float(str(row["cpu_seconds"])) for row in here)
        print(f"{dead:>5}{cells[0]:>32}{cells[1]:>32}{faster:>16.3f}{over:>12.4f}{spent:>7.2f}", flush=True)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / "damage.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, FIELDS)
            writer.writeheader()
            writer.writerows(rows)
        plot(rows, spec, folder / "damage.svg")


def run(smoke: bool) -> None:
    """A small study, or the whole one, without files."""
    if smoke:
        study("torus:4x4", [0, 1, 2], 2, 1 << 20, None)
    else:
        study("torus:8x8", [0, 1, 2, 3, 5, 10], 20, 16 << 20, None)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--network", default="torus:8x8")
    parser.add_argument("--dead", default="0,1,2,3,5,10")
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--size-kib", type=int, default=16 << 10)
    parser.add_argument("-o", type=Path, dest="folder")
    given = parser.parse_args()
    study(given.network, [int(n) for n in given.dead.split(",")], given.draws, given.size_kib << 10, given.folder)
