"""`python -m tools.tables.least_cycles`: the fewest cycles of small all-reduces in fine slots, as a table (some CPU minutes).

Each schedule is that of method one-shot, certified with `--exact`, which looks for a faster one where it can, and checked again.
Either it takes the fewest cycles, or the table has the cycles that are not excluded. AssertionError where a claim does not hold.
"""

import sys
from collections.abc import Iterable, Iterator

from certree.api.checks.checking import bound, verify
from certree.api.checks.exactness import certify_exact
from certree.api.synthesis import synthesize
from certree.models.machine.machine import load_machine

NETWORKS = ("ring:4", "mesh:2x2", "switch:4", "ace-torus:2x2x1", "ace-alltoall:2x2")
GRANULES = range(1, 9)
MACHINE = load_machine("multitree")
HEAD = """# The fewest cycles of small all-reduces

All-reduces of 1 to 8 granules of 16 bytes on machine `multitree`, in fine slots, with the reduction units of that machine.

- *Time bound*, *fewest* and *made* are cycles. *Fewest*: every schedule with fine slots and equal chunks takes at least as many,
  by refutations that `certree verify` checks without a solver ([frontiers](../explanation/frontiers.md#in-cycles)). *Made*: those
  of method `one-shot`, or of a faster schedule if one is known.
- *Refuted* lists pairs (chunks, granules). For each pair a proof shows that no schedule with at least this number of chunks and of
  granules takes fewer cycles than *fewest*.

`python -m tools.tables.least_cycles` writes this page.

| network | granules | time bound | fewest | made | fewest − bound | made − fewest | refuted |
|---|---|---|---|---|---|---|---|
"""


def table(networks: Iterable[str], granules: Iterable[int] = GRANULES) -> Iterator[str]:
    """The rows of the table, network by network."""
    for network in networks:
        for number in granules:
            yield row(network, number)


def row(network: str, granules: int) -> str:
    """One row in Markdown."""
    size = granules * MACHINE.flit_bytes
    found = certify_exact(synthesize(network, size=size, machine=MACHINE, method="one-shot"))
    best = found.schedule if found.better is None else found.better
    verdict, least, made = verify(best), found.least, found.cycles if found.better_cycles is None else found.better_cycles
    if not verdict.valid or verdict.quality is None or least is None or made is None:
        raise AssertionError(f"{network}, {size} bytes: not certified")
    refuted = (best.certificate or {}).get("fewest_cycles", {"refuted": []})["refuted"]
    if verdict.quality.fewest_cycles != (made if refuted else None) or (bool(refuted) != (least == made)):
        raise AssertionError(f"{network}, {size} bytes: the claim is not valid")
    lower = bound(network, size=size, machine=MACHINE).time_cycles or 0
    pairs = " ".join(f"({entry['chunks']},{entry['granules']})" for entry in refuted)
    fewest = f"{least}" if refuted else f"{least} to {made}"
    cells = (f"`{network}`", granules, lower, fewest, made, least - lower, made - least, pairs or "–")
    return f"| {' | '.join(map(str, cells))} |"


def main() -> None:
    """Write the table."""
    sys.stdout.write(HEAD)
    for line in table(NETWORKS):
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
