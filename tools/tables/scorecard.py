"""`python -m tools.tables.scorecard FOLDER > docs/reference/scorecard.md`: the scorecard of the five papers.

FOLDER keeps the cells of each target and their CPU seconds; what is not there is run, in as long as the page says at its end, and
kept, or with `--known` left out. `--compare` prints the rows that the page does not have instead; exit code 1 where
there are any.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import click

import certree.api as ct
from certree.extras.papers.scorecard.card import PAPERS, Entry, Results, Verdict, entries, lines

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "scorecard.md"
HEAD = """# Scorecard of the papers

A line for each figure, table, equation, algorithm and quantitative claim of the five papers that certree implements: what certree
finds, by which command, and why where it differs. Figures and tables count with all cells that the paper's text states; a claim of
the text that is one of these cells has a line of its own, too. Written by `python -m tools.tables.scorecard FOLDER` from runs; a
test compares checks and quick targets in every run of the suite, `make verify-all` all of them.

A line **agrees** where all numbers do, within the tolerance that its target states (most have a tenth or a twentieth, fixed before
the first run), or exactly for checks; `check NAME` stands for `python -m certree.extras.papers.scorecard NAME`. **shown**: a figure
without numbers, which the command draws or writes. **not computed**: the reason says what it would take. **not run**: the command
computes it, in minutes, and has not been run since the page was written. Numbers that are **fitted** are compared with those by
which something was chosen that the paper leaves open, so their agreement is not a prediction: they are counted apart, and a verdict
is that of the other numbers where there are any.
"""


def results_of(folder: Path, *, run: bool) -> Results:
    """Documents of targets, from a folder; with `run` those that are missing are computed and kept."""

    def result(name: str) -> dict[str, object] | None:
        file = folder / f"{name}.json"
        if not file.exists():
            if not run:
                return None
            print(f"{name} ...", file=sys.stderr)
            done = ct.reproduce(name)
            cells = [cell.document() for cell in done.cells]
            file.write_text(json.dumps({"cells": cells, "cpu_seconds": round(done.cpu_seconds, 1)}))
        found: dict[str, object] = json.loads(file.read_text())
        return found

    return result


def row(entry: Entry) -> str:
    """A row of the table of a paper."""
    line = entry.line
    command = f"`{entry.command}`" if entry.command else ""
    cells = (f"{line.kind}, {line.place}", line.what, entry.verdict, entry.numbers, command, entry.reason)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def totals(found: dict[str, list[Entry]]) -> Iterator[str]:
    """The table of lines by paper and verdict."""
    yield "| | lines | " + " | ".join(Verdict) + " |"
    yield "|---|" + "---|" * (len(Verdict) + 1)
    everything = Counter[str]()
    for paper, ours in found.items():
        counts = Counter(entry.verdict for entry in ours)
        everything.update(counts)
        yield f"| {PAPERS[paper]} | {len(ours)} | " + " | ".join(str(counts[verdict]) for verdict in Verdict) + " |"
    yield f"| all | {everything.total()} | " + " | ".join(str(everything[verdict]) for verdict in Verdict) + " |"


def page(found: dict[str, list[Entry]]) -> str:
    """The page."""
    parts = [HEAD, "\n".join(totals(found))]
    for paper, ours in found.items():
        head = [f"## {PAPERS[paper]}", "", "| where | what | verdict | numbers | command | why |", "|---|---|---|---|---|---|"]
        parts.append("\n".join([*head, *map(row, ours)]))
    return "\n\n".join(parts) + "\n"


TIMES = """## CPU seconds of the targets

Of the runs that this page was written from, each with the version of its day, on a machine of two cores with other work: one core
takes up to twice as long then. `certree reproduce` runs cells on all cores.
"""


def times(results: Results) -> str:
    """The table of CPU seconds of targets, those of most first, and their sum; without those whose results have none."""
    names = {line.target for paper in PAPERS for line in lines(paper) if line.target is not None}
    known = {name: found["cpu_seconds"] for name in names if (found := results(name)) is not None and "cpu_seconds" in found}
    rows = [f"| {name} | {seconds:,.1f} |" for name, seconds in sorted(known.items(), key=lambda one: (-one[1], one[0]))]
    head = [f"| {len(known)} of {len(names)} targets | CPU s |", "|---|---|"]
    return "\n".join([TIMES, *head, *rows, f"| sum | {sum(known.values()):,.1f} |"])


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--known", is_flag=True, help="Run no target.")
@click.option("--compare", is_flag=True, help="Print the rows that the page does not have.")
def main(folder: Path, *, known: bool, compare: bool) -> None:
    """Print the page, after the targets that FOLDER has no document of."""
    folder.mkdir(parents=True, exist_ok=True)
    results = results_of(folder, run=not known)
    found = {paper: list(entries(paper, results)) for paper in PAPERS}
    if not compare:
        print(f"{page(found)}\n{times(results)}")
        return
    there = PAGE.read_text().splitlines()
    other = [line for line in page(found).splitlines() if line not in there]
    print("\n".join(other), end="\n" if other else "")
    raise SystemExit(1 if other else 0)


if __name__ == "__main__":
    main()
