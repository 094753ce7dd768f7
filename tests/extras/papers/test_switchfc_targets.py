"""Targets of reproduce for the switch-based fully connected platform: local switches, against a ring."""

from fractions import Fraction

from tests.cli.running import certree
from tests.extras.papers.cells import cells_of, published


def test_local_switches_in_small():
    """The smoke subset: 1 and 4 switches for 4 nodes, as the timing of the table says."""
    cells = cells_of("switchfc-fig9", "--smoke")
    lat, flits = 3 * 5 + 2 * 90, (1 << 20) // 32
    for switches in (1, 4):
        lanes = 2 * switches
        reduce = cells["4 nodes, all-reduce: cycles", str(switches)]
        assert int(reduce["ours"]) == 2 * (1 + flits // lanes + lat + lanes)  # two steps; an addition takes a cycle
        assert int(cells["4 nodes, all-to-all: cycles", str(switches)]["ours"]) == 3 * (1 + flits // (4 * lanes) + lat)
    ring = cells["4 nodes, all-reduce on the ring: cycles", "no switch"]
    assert int(ring["ours"]) == 6 * (1 + flits // 8 + 2 * 5 + 90 + 2) - 2  # equal slots; nothing is added in the last
    for (row, _), cell in cells.items():
        if row.endswith("cycles") and "overlap" not in row:
            assert (int(cell["ours"]), cell["contention_cycles"]) == (cell["closed_form_cycles"], 0)
    assert cells["4 nodes, all-to-all, half of the switches: cycles", "4"]["network"] == "switch-fc:4x2"
    saved = cells["4 nodes, all-reduce: saved at most", "best"]
    assert Fraction(saved["ours"]) == 1 - Fraction(int(reduce["ours"]), int(ring["ours"]))
    assert saved["agrees"]
    assert Fraction(cells["4 nodes, all-reduce: saved", "1"]["ours"]) < 0
    verdicts = {row: cell["agrees"] for (row, column), cell in cells.items() if column == "best" and "to-all" in row}
    assert list(verdicts.values()) == [False, True, False]
    assert all(cell["why"] for cell in cells.values() if cell["agrees"] is False)


def test_every_flit_and_whole_messages_take_the_same_cycles(tmp_path):
    whole = published(tmp_path, "switchfc-fig9", ("nodes = [4, 8]", 'nodes = [8]\nswitches = ["3"]\nengine = "auto"'))
    cells = cells_of(whole)
    engines = {row: cell["engine"] for (row, _), cell in cells.items() if "engine" in cell}
    assert {row for row, engine in engines.items() if engine == "flit"} == {row for row in engines if "overlap" in row}
    assert set(engines.values()) == {"fast", "flit"}  # messages of steps that overlap meet on their routes
    fast = {place: cell["ours"] for place, cell in cells.items()}
    flits = published(tmp_path, "switchfc-fig9", ("nodes = [4, 8]", 'nodes = [8]\nswitches = ["3"]\nengine = "flit"'))
    assert {place: cell["ours"] for place, cell in cells_of(flits).items()} == fast
    assert len(fast) == 14


def test_no_time_inside_packages_bounds_the_gain():
    """Layers take the same time without packages, and no platform with packages is below that."""
    cells = cells_of("switchfc-fig11-most")
    for model in ("astra-dlrm", "astra-mlp-model"):
        for paced in ("", ", paced"):
            few, many = (
                cells[f"overlap no time inside{paced}: ms an iteration", f"{model} {count} nodes"]["ours"] for count in (4, 8)
            )
            assert few == many
            assert Fraction(few) < Fraction(
                cells[f"overlap hierarchical torus{paced}: ms an iteration", f"{model} 4 nodes"]["ours"]
            )
    verdicts = {place: cell["agrees"] for place, cell in cells.items() if cell["agrees"] is not None}
    assert list(verdicts.values()) == [False, True, True, False, False, False]


def test_sizes(tmp_path):
    assert certree("reproduce", "switchfc-fig10", "--smoke", "--jobs", "1", "-o", tmp_path / "out").code == 0
    assert (tmp_path / "out" / "plot.png").read_bytes().startswith(b"\x89PNG")
    cells = cells_of("switchfc-fig10", "--smoke")
    saved = [cell for (row, _), cell in cells.items() if row.endswith("saved")]
    assert len(saved) == 4
    assert all(cell["agrees"] for cell in saved)


def test_what_no_method_makes_is_a_cell_with_the_reason(tmp_path):
    cells = cells_of(published(tmp_path, "switchfc-fig10", ("nodes = [4, 8]", "nodes = [6]")), "--smoke")
    missing = cells["6 nodes, 3 switches, all-reduce: cycles", "512 KiB"]
    assert missing["ours"] is None
    assert "power of 2" in missing["reason"]
    assert ("6 nodes, 3 switches, all-reduce: saved", "512 KiB") not in cells


def test_packages_gain_less_in_an_all_reduce_than_in_an_all_to_all(tmp_path):
    small = published(tmp_path, "switchfc-packages", ("switches = [3, 4]", "switches = [4]"))
    cells = {row: Fraction(cell["ours"]) for (row, size), cell in cells_of(small).items() if size == "1 MiB"}
    for nodes in (4, 8):
        times = [1 / (1 - cells[f"{nodes} nodes, 4 switches, {what}: saved"]) for what in ("all-reduce", "all-to-all")]
        assert Fraction(116, 100) < times[0] < times[1] < Fraction(268, 100)
        outside = cells[f"{nodes} nodes, 4 switches, shares outside: cycles"]
        assert 3 * outside < cells[f"{nodes} nodes, 4 switches, all-reduce: cycles"]


def test_hardware(tmp_path):
    cells = {place: Fraction(cell["ours"]) for place, cell in cells_of("switchfc-fig12").items()}
    parts = ("wires", "buffers", "crosspoints")
    growth = [cells[f"more {part}", "8 nodes"] / cells[f"more {part}", "4 nodes"] for part in parts]
    assert growth == [Fraction(3, 2), Fraction(8, 5), Fraction(12, 5)]  # the most that the note on areas speaks of
    assert cells["more power", "4 nodes"] == Fraction("0.0918") * cells["more buffers", "4 nodes"]
    assert certree("reproduce", "switchfc-fig12", "--smoke", "-o", tmp_path / "out").code == 0
    prices = ('wires = "0", buffers = "0.0918"', 'wires = "0.9082", buffers = "0.0918"'), ('ts = "0.9082"', 'ts = "0"')
    wires = cells_of(published(tmp_path, "switchfc-fig12", *prices), "--smoke")["more area", "4 nodes"]
    assert Fraction(wires["ours"]) == Fraction("0.9082") * cells["more wires", "4 nodes"] + cells["more power", "4 nodes"]
