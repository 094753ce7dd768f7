"""`RECHECK.md`: the page of a bundle that says how to check it again."""

from collections.abc import Mapping, Sequence

from certree.extras.bundles.evidence import load_evidence
from certree.extras.bundles.model.bundle import Item

_HEAD = """# How to re-check this bundle

It was made with certree {certree}. Write F.certree for the name of the file. Everything below works offline.

    certree verify F.certree                # no solver and no Java needed
    certree verify F.certree --trust none   # runs TLC again, which needs Java

Each item is reported as re-checked (recomputed from the files), re-ran (run again with the stated result), trusted (with what
it rests on), absent (with the reason) or failed. The exit code is 0 when nothing failed, 1 when an item failed, 2 when the file is
damaged. `certree import F.certree -o {kind}.json` takes the {kind} out. The file is a zip without compression; `bundle.json`
lists the SHA-256 of every member.

| item | what it shows | by other means |
|---|---|---|
"""
_TAIL = """
Trusted in every case: the program that checks; the versions in `bundle.json` and the notes in `provenance` of the schedule, on
which nothing depends. A hash protects against damage, not against a forger, who can compute it again. But each item above is
checked by itself, so it does not matter who made the file.
"""


def page(kind: str, items: Sequence[Item], made_with: Mapping[str, str]) -> bytes:
    """The text, which depends on nothing else. A name that is not known is left out."""
    known = load_evidence(kind)
    rows = []
    for item in items:
        if item.name in known:
            shown = " ".join((type(known[item.name]).__doc__ or "").split())
            how = known[item.name].by_hand if item.absent is None else f"absent: {_cell(item.absent)}"
            rows.append(f"| {item.name} | {shown} | {how} |\n")
    return (_HEAD.format(certree=made_with.get("certree"), kind=kind) + "".join(rows) + _TAIL).encode()


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
