"""The table of mutants: what refutes each, told by TLC and not by the manifest."""

from certree.verify import kills
from certree.verify.models import load_manifest

FEW = ("MCAllReduceScatter", "MCAllReduceOwnTwice", "MCAllReduceWithdrawn")


def test_table(monkeypatch):
    monkeypatch.setattr(kills, "load_manifest", lambda: [m for m in load_manifest() if m["name"] in FEW])
    told = []
    assert kills.kill_table(told.append).splitlines() == [
        "## MCAllReduce",
        "",
        "| mutant | TypeOK | Ends | Stays |",
        "|---|---|---|---|",
        "| OwnTwice | x |  |  |",
        "| Withdrawn |  | x | x |",
    ]
    assert told == ["MCAllReduceOwnTwice: 1 properties refute it", "MCAllReduceWithdrawn: 2 properties refute it"]
