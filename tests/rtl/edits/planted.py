"""Edits, made by hand, of what opens the next tables; of each what finds it: a proof, or a co-simulation of three images.

`python -m tests.rtl.edits.planted` prints them; `python -m tests.rtl.mutants` puts them on its page.
"""

import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.rtl.banks import PAIRS, export_pair, joint, run_pair
from tests.rtl.cases import export, two_rows
from tests.rtl.model import build_model
from tests.rtl.proofs import TAKEOVER, prove, prove_top

BANKS, TOP = "certree_ni_banks.sv", "certree_ni.sv"
_OPENED, _READ = "banks_open_with_the_numbers_of_their_header", "banks_read_by_the_numbers_of_their_header"
_ARRIVALS = "takeover_counts_arrivals_as_they_come"
_PLAIN, _ROUTED = "mesh-2x2-then-broadcast-lockstep", "fattree-2x2-then-others-lockstep"


@dataclass(frozen=True)
class Planted:
    """One edit: in `file` the text `before` becomes `after`; `finds`: the property, or the pair of tables, that finds it."""

    name: str
    file: str
    before: str
    after: str
    finds: str

    def applied(self, folder: Path) -> None:
        """Edit the file of a folder; AssertionError unless it has the text once."""
        text = (folder / self.file).read_text()
        assert text.count(self.before) == 1, (self.name, text.count(self.before))
        (folder / self.file).write_text(text.replace(self.before, self.after))


def _stale(number: str) -> Planted:
    return Planted(
        f"{number} taken from the first image",
        BANKS,
        f"        {number} <= next_{number};",
        f"        if (opens_first) {number} <= next_{number};",
        _OPENED,
    )


PLANTED = (
    *map(_stale, ("rows", "arrivals", "firings", "counts", "slot_cycles", "period", "repeats", "boundary")),
    Planted(
        "firings and counts swapped",
        BANKS,
        "        firings <= next_firings;\n        counts <= next_counts;",
        "        firings <= FIRED_BITS'(next_counts);\n        counts <= TOTAL_BITS'(next_firings);",
        _OPENED,
    ),
    Planted(
        "rows read by the repeats of the open tables",
        BANKS,
        "read_repeats = is_ahead ? next_repeats : repeats;",
        "read_repeats = has_tables ? repeats : next_repeats;",
        _READ,
    ),
    Planted(
        "counters that stay",
        TOP,
        ".clk, .rst(restart), .open_bank, .takes_over, .repeats,",
        ".clk, .rst(restart), .open_bank, .takes_over(1'b0), .repeats,",
        _ARRIVALS,
    ),
    Planted("reductions that count twice", TOP, "{is_summed, is_complete & ~is_reduce};", "{is_summed, is_complete};", _ARRIVALS),
    Planted(
        "no third image is read", TOP, "wire read_bank = open_bank ^ is_ahead;", "wire read_bank = open_bank | is_ahead;", _PLAIN
    ),
    Planted(
        "counters of the first image stay",
        TOP,
        ".set_line(write_arrival), .line_bank(load_bank),\n      .set_index(write_index[LINE_BITS-1:0]), .entry",
        ".set_line(write_arrival), .line_bank(1'b1),\n      .set_index(write_index[LINE_BITS-1:0]), .entry",
        _PLAIN,
    ),
    Planted(
        "routes of the first image stay",
        TOP,
        "routes[{load_bank, write_index",
        "routes[{load_bank | open_bank, write_index",
        _ROUTED,
    ),
)


def exported(folder: Path) -> None:
    """Write what the edits are tried on: the interface that is proved, and compiled ones that execute three images."""
    export(two_rows(), folder / "proved")
    for pair in {edit.finds for edit in PLANTED} & set(PAIRS):
        export_pair(PAIRS[pair](), folder / pair)


def found(edit: Planted, folder: Path) -> str:
    """What finds an edit of the sources in a folder (`exported`), in words; "" where what should find it does not."""
    with tempfile.TemporaryDirectory() as temporary:
        target = Path(temporary) / "edited"
        shutil.copytree(folder / (edit.finds if edit.finds in PAIRS else "proved"), target, ignore=shutil.ignore_patterns("model"))
        edit.applied(target)
        if edit.finds in PAIRS:
            build_model(joint(*PAIRS[edit.finds]().images)[0], target)
            return "" if run_pair(target)[0] else f"co-simulation: {edit.finds}"
        reason = prove("banks", target, target) if edit.file == BANKS else prove_top(target, target, [TAKEOVER])
        return f"proof: `{edit.finds}`" if edit.finds in reason else ""


def rows() -> Iterator[tuple[str, ...]]:
    """The edits with what finds each."""
    with tempfile.TemporaryDirectory() as folder:
        exported(Path(folder))
        for edit in PLANTED:
            yield edit.file, edit.name, found(edit, Path(folder))


if __name__ == "__main__":
    for row in rows():
        print(*row, sep=" | ", flush=True)
