"""NVLinks of a box from a matrix: between GPUs, or to switches that all of them reach."""

from collections.abc import Mapping
from fractions import Fraction

from certree.extras.clusters.imports.box import Box
from certree.extras.clusters.imports.options import Options
from certree.models.common.errors import TopologyError

MOST_OF_A_GPU = 18  # NVLinks out of one GPU
Pair = tuple[int, int]


def join_nvlinks(
    box: Box, names: list[str], bonds: Mapping[Pair, int], cells: Mapping[tuple[str, str], str], options: Options, where: str
) -> None:
    """Add the NVLinks: `bonds` has their number for pairs (a, b), a < b, and `cells` what the matrix shows.

    TopologyError for what contradicts itself; the question whether links are direct or lead to switches is asked where both can be.
    """
    if not bonds or options.nvlinks == "none":
        if bonds:
            options.tell("left out", f"NVLinks of {len(bonds)} pairs of GPUs: nvlinks=none")
        return
    most = [max((count for pair, count in bonds.items() if gpu in pair), default=0) for gpu in range(box.gpus)]
    is_switched = _is_switched(box, bonds, most, names, options, where)
    if not is_switched and options.nvlinks != "direct":
        _refuse_mixture(box.gpus, bonds, most, names, cells, where)
    speed = options.speed("NV", "one NVLink")
    if is_switched:
        join_switch(box, most, speed, options)
        return
    options.tell("took", f"NVLinks between {len(bonds)} pairs of GPUs, each pair joined directly")
    for (a, b), count in bonds.items():
        box.join(a, b, speed, count)


def join_switch(box: Box, counts: list[int], speed: Fraction, options: Options) -> None:
    """Join GPUs by `counts` NVLinks each with one switch."""
    switch = box.add_switch("nvswitch")
    shown = ", ".join(map(str, sorted({count for count in counts if count}, reverse=True)))
    options.tell("took", f"{shown} NVLinks from each of {sum(map(bool, counts))} GPUs to switches, which are one node")
    for gpu, count in enumerate(counts):
        if count:
            box.join(gpu, switch, speed, count)


def _is_switched(box: Box, bonds: Mapping[Pair, int], most: list[int], names: list[str], options: Options, where: str) -> bool:
    """Whether NVLinks lead to switches. All that have NVLinks then show the smaller of their numbers to each other."""
    have = [gpu for gpu in range(box.gpus) if most[gpu]]
    is_complete = len(bonds) == len(have) * (len(have) - 1) // 2 and len(have) > 2
    is_even = is_complete and len(have) == box.gpus and len(set(bonds.values())) == 1
    is_degraded = is_complete and not is_even and all(count == min(most[a], most[b]) for (a, b), count in bonds.items())
    chosen = options.nvlinks
    if chosen == "switched" and not is_even:
        raise TopologyError(f"{where}: nvlinks=switched, but not every two GPUs show the same number of NVLinks")
    if chosen == "degraded" and not is_degraded:
        raise TopologyError(f"{where}: nvlinks=degraded, but the numbers are not those of GPUs that reach the same switches")
    if chosen not in (None, "direct", "switched", "degraded"):
        raise TopologyError(
            f"{where}: nvlinks={chosen}, but the matrix shows the NVLinks; allowed: direct, switched, degraded, none"
        )
    if chosen is None and is_even and options.assumed is not None and options.assumed.nvlinks == f"switched:{bonds[0, 1]}":
        options.tell("assumed", f"NVLinks lead to switches, as in {options.assumed.name}")
        return True
    if chosen is None and is_even:
        options.ask(
            f"whether NVLinks are direct: every two GPUs show {bonds[0, 1]} NVLinks, either to each other or to switches;"
            " give nvlinks=direct or nvlinks=switched"
        )
    if chosen is None and (is_degraded or len(have) < box.gpus):
        usual = max(set(most), key=lambda count: (most.count(count), count))
        odd = ", ".join(f"{names[gpu]} shows {most[gpu]}" for gpu in range(box.gpus) if most[gpu] != usual)
        both = "nvlinks=degraded (it has fewer links to the switches) or nvlinks=direct" if is_degraded else "nvlinks=direct if so"
        options.ask(f"why GPUs differ: {odd} NVLinks, the others up to {usual}; give {both}")
    return chosen in ("switched", "degraded") or (chosen is None and (is_even or is_degraded))


def _refuse_mixture(
    gpus: int, bonds: Mapping[Pair, int], most: list[int], names: list[str], cells: Mapping[tuple[str, str], str], where: str
) -> None:
    """Raise TopologyError where a GPU shows more NVLinks than one has, so that they lead to switches, and some pair differs."""
    for gpu in range(gpus):
        if sum(count for pair, count in bonds.items() if gpu in pair) <= MOST_OF_A_GPU:
            continue
        for other in range(gpus):
            a, b = min(gpu, other), max(gpu, other)
            if a != b and most[b] and bonds.get((a, b), 0) != min(most[a], most[b]):
                raise TopologyError(
                    f"{where}: {names[a]} to {names[b]} is {cells[names[a], names[b]]}, but {names[gpu]} shows {most[gpu]} NVLinks"
                    f" to others, in all more than the {MOST_OF_A_GPU} of a GPU, so they lead to switches that every GPU reaches;"
                    " correct the entry, or give nvlinks=direct"
                )
