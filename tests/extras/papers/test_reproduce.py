"""certree reproduce: figures of the papers, compared, explained, resumed, interrupted, on other networks, from one's own file."""

import csv
import json
import os
import re
import signal
import xml.etree.ElementTree
from fractions import Fraction

import pytest

from certree.extras.papers.authors.faults import Fault
from certree.extras.papers.experiments.collectives.all_reduce_runs import WITHOUT_ROUTERS
from certree.extras.papers.experiments.collectives.authors_runs import run_as_authors
from certree.extras.papers.target import load_target, targets
from certree.extras.sweeps.run.faults import less_links
from certree.models.common.errors import InputError
from certree.models.machine.machine import load_machine
from certree.models.network.spec import parse_topology
from tests.cli.artefacts import changed
from tests.cli.running import certree, start
from tests.extras.papers.cells import cells_of, published, small


def test_every_target_can_be_read_and_copied(tmp_path):
    names = list(targets())
    assert {"multitree-fig2", "multitree-fig9", "multitree-fig10"} <= set(names)
    listed = certree("reproduce").out
    for name in names:
        assert name in listed
        (tmp_path / "mine.toml").write_text(certree("reproduce", name, "--configuration").out)
        words = re.split(r"\{\w+\}", load_target(str(tmp_path / "mine.toml")).title)  # the list shows the values of fields
        assert re.search(".*".join(map(re.escape, words)), listed)


def test_headers_of_packets():
    cells = cells_of("multitree-fig2").items()
    assert [(place[1], cell["paper"], cell["ours"], cell["agrees"]) for place, cell in cells] == [
        ("64 B", "1/4", "1/4", True),
        ("128 B", None, "1/8", None),
        ("256 B", "3/50", "1/16", True),
    ]


def test_scaling_in_small():
    """One network: the ring is the measure of all, and MultiTree three times as fast, as the paper says."""
    cells = {row: cell for (row, _), cell in cells_of("multitree-fig10", "--smoke").items()}
    assert cells["ring"]["ours"] == "1"
    speedup = cells["ring / multitree-msg"]
    assert speedup["paper"] == "3"
    assert Fraction(speedup["ours"]) == 1 / Fraction(cells["multitree-msg"]["ours"])
    assert Fraction(speedup["difference"]) == Fraction(speedup["ours"]) / 3 - 1
    agrees = {row: cell["agrees"] for row, cell in cells.items() if cell["paper"] is not None}
    rows = [f"{ring} / multitree-msg" for ring in ("ring", "ring-2d")]
    assert agrees == dict.fromkeys(rows, True) | {f"{row}, lockstep": False for row in rows}


@pytest.mark.parametrize("name", ["multitree-fig2", "multitree-fig9", "multitree-fig10-variants", "multitree-strong-scaling"])
def test_smoke_of_targets(tmp_path, name):
    """Every file is written, every cell has a value or the reason, what differs is explained."""
    assert certree("reproduce", name, "--smoke", "--jobs", "1", "-o", tmp_path).code == 0
    files = {path.name for path in tmp_path.iterdir()}
    assert files - {"times.csv"} == {"cells", "cells.json", "plot.png", "plot.svg", "table.csv", "table.md", "target.toml"}
    assert (tmp_path / "target.toml").read_text().startswith("# Run with --smoke\n# ")
    cells = json.loads((tmp_path / "cells.json").read_text())
    assert all(cell["ours"] is not None or cell["reason"] for cell in cells)
    assert any(cell["agrees"] for cell in cells) == (name != "multitree-strong-scaling")
    assert all(cell["why"] for cell in cells if cell["agrees"] is False)


def test_schedules_compared_with_published_ones(tmp_path):
    """Simulated and by closed form: nothing takes less time than ours, and what no method makes has its reason."""
    cells = cells_of("against-heuristics", "--smoke", "-o", tmp_path / "out")
    times = {place: cell["ours"] for place, cell in cells.items() if "line" in cell}
    assert all(value is None or Fraction(value) >= 1 for value in times.values())
    assert times["torus:4x4 1 MiB", "GenTree"] is None
    assert "has no switches" in next(cell["reason"] for (_, column), cell in cells.items() if column == "GenTree")
    changes = ("closed_form = []", 'closed_form = ["torus:*"]'), ('["32KiB", "1MiB", "64MiB", "1GiB"]', '["32KiB"]')
    closed = cells_of(published(tmp_path, "against-heuristics", *changes), "--smoke")
    assert {cell["ours"] for (_, column), cell in closed.items() if column == "simulated, cycles"} == {"-"}
    small = "torus:4x4 32 KiB"  # run in slots, to the cycle
    assert closed[small, "closed form, cycles"]["ours"] == cells[small, "simulated, cycles"]["ours"]


@pytest.fixture(scope="module")
def dead_links(tmp_path_factory):
    """What is printed for the smoke subset, and its cells."""
    folder = tmp_path_factory.mktemp("dead-links")
    outcome = certree("reproduce", "dead-links", "--smoke", "--jobs", "1", "-o", folder)
    assert outcome.code == 0, outcome.err
    return outcome.out, json.loads((folder / "cells.json").read_text())


def test_dead_links(dead_links):
    """Draws are those of their seeds, the bound holds for each, and more dead links never help the bound."""
    by_line = {line: {} for line in ("certree", "MultiTree", "bandwidth bound")}
    for cell in dead_links[1]:
        if "by_seed" in cell:
            by_line[cell["line"]] |= {int(seed): Fraction(value) for seed, value in cell["by_seed"].items()}
    assert list(by_line["certree"]) == [0, 1000, 1001]
    for seed, bound in by_line["bandwidth bound"].items():
        assert bound < by_line["certree"][seed] <= by_line["MultiTree"][seed]
    assert by_line["bandwidth bound"][0] < min(by_line["bandwidth bound"][seed] for seed in (1000, 1001))


def own_draws(folder, draws, *, rival):
    """The file of a target of one's own: a few draws of a small mesh less one link."""
    target = folder / "mine.toml"
    target.write_text(
        f'experiment = "dead-links"\ntitle = "t"\nnetwork = "mesh:3x3"\ndead = [1]\ndraws = {draws}\nsize = "4KiB"\n'
        f'machine = "multitree"\n[[lines]]\nname = "one"\nmethod = "multitree"\n[[lines]]\nname = "two"\nmethod = "{rival}"\n'
    )
    return target


@pytest.mark.parametrize("draws", ["2", '"2"'])
def test_draws_are_a_number(tmp_path, draws):
    """Numbers stand in a target's file as TOML has them; quotes around them are taken too."""
    target = own_draws(tmp_path, draws, rival="recursive-doubling")
    cells = certree("reproduce", target, "--jobs", 1, "--json").document["cells"]
    assert [list(cell["by_seed"]) for cell in cells if "by_seed" in cell] == [["1000", "1001"]] * 3


def test_draws_on_which_a_method_has_nothing(tmp_path):
    """No ring goes through an odd mesh: said as such."""
    outcome = certree("reproduce", own_draws(tmp_path, 1, rival="ring"), "--jobs", 1)
    assert outcome.code == 2
    assert outcome.err.splitlines()[-1].startswith("error: two on mesh:3x3,without-link=")


@pytest.mark.parametrize("draws", ["0", "2.5", '"many"', "true"])
def test_draws_that_are_not_a_number_are_refused(tmp_path, draws):
    target = tmp_path / "mine.toml"
    listed = certree("reproduce", "dead-links", "--configuration").out
    target.write_text(listed.replace("draws = 20", f"draws = {draws}"))
    outcome = certree("reproduce", target)
    assert outcome.code == 2
    assert "draws is " in outcome.err


def test_drawn_links_are_gone_and_the_rest_holds_together():
    """One seed draws the same links; what is drawn is connected, even where most draws are not."""
    assert less_links("torus:4x4", 2, 7) == less_links("torus:4x4", 2, 7)
    names = [less_links("mesh:3x3", 3, seed, 1) for seed in range(5)]
    assert len(set(names)) > 1
    for name in names:
        topology = parse_topology(name)
        assert (len(topology.endpoints), name.count("without-link")) == (8, 3)
    for links in (4, 100):
        with pytest.raises(InputError, match=f"ring:6 less {links} links"):
            less_links("ring:6", links, 0)


def test_the_authors_simulator_in_small():
    """The first ring to the cycle; of the first MultiTree, what its faults make of it and what it takes without them."""
    cells = cells_of("multitree-authors", "--smoke")
    ours = {(row.partition(",")[0], column): int(cell["ours"]) for (row, column), cell in cells.items() if "/" not in cell["ours"]}
    assert ours["ring", "as theirs"] == 9344
    assert ours["multitree", "as theirs"] == ours["multitree", "least"] == ours["multitree", "most"] == 3526
    assert ours["multitree", "without any interface"] < 2700
    assert ours["multitree", "paced"] == 2517
    assert [cell["agrees"] for (_, column), cell in cells.items() if column == "as theirs"] == [True, True]


@pytest.mark.parametrize(
    ("method", "chunks", "interfaces", "theirs", "paced"),
    [("ring-2d", None, 4, 5828, 3904), ("double-binary-tree", 16, 1, 10160, 10463)],
)
def test_schedules_of_the_authors_own(method: str, chunks: int | None, interfaces: int, theirs: int, paced: int):
    """What they run for these is not certree's schedule of that name, which is paced next to it, the 2D-ring in two parts."""
    run = {
        "machine": load_machine("multitree-authors").document(),
        "network": "torus:4x4",
        "method": method,
        "options": {},
        "chunks": chunks,
        "message_bytes": 32768,
        "flow": "packet",
        "interfaces": interfaces,
    }
    faulty = run_as_authors(run | {"kind": "as theirs", "faults": [fault.value for fault in Fault], "order": 0})
    assert (faulty["cycles"], faulty["data_ok"]) == (theirs, True)
    assert run_as_authors(run | {"kind": "paced"}) == {"cycles": paced, "data_ok": True}


def test_own_targets_resume(tmp_path):
    target, out = small(tmp_path), tmp_path / "out"
    asked = ("reproduce", target, "--jobs", "1", "-o", out)
    first = certree(*asked)
    assert first.code == 0
    assert "8 of 8" in first.err
    kept = sorted((out / "cells").iterdir())
    kept[0].unlink()
    kept[1].write_text('{"result": {"cyc')  # as a full disk leaves it
    again = certree(*asked)
    assert "6 of 8 cells are there already" in again.err
    assert again.out == first.out
    cells = json.loads((out / "cells.json").read_text())
    reasons = {cell["row"].split()[1]: (cell["ours"] is None, cell["reason"][:20]) for cell in cells if "reason" in cell}
    assert reasons == {"hdrm": (True, "hdrm needs a BiGraph"), "doubling": (False, "in slots, since it c")}
    assert first.out.strip() == (out / "table.md").read_text().strip()
    assert (out / "target.toml").read_text() == target.read_text()
    rows = list(csv.DictReader((out / "table.csv").open()))
    assert [row["ours"] for row in rows] == [cell["ours"] or "" for cell in cells]
    assert (out / "plot.png").read_bytes().startswith(b"\x89PNG")
    assert xml.etree.ElementTree.parse(out / "plot.svg").getroot().tag.endswith("svg")


def test_what_differs_is_explained(tmp_path):
    """Exact arithmetic in the verdict: the same cell agrees at its own difference and not below."""
    cells, row = cells_of(small(tmp_path)), "bigraph:1x4 ring / tree"
    bigraph = cells[row, "16 KiB"]
    assert not bigraph["agrees"]
    assert bigraph["why"] == "the switch is in the way"
    assert "why" not in cells["ring:4 ring / tree", "16 KiB"]
    apart = abs(Fraction(bigraph["difference"]))
    for tolerance, agrees in ((apart, True), (apart - Fraction(1, 10**9), False)):
        changed = small(tmp_path, ('"1/10"', f'"{tolerance}"'))
        assert cells_of(changed, "--topology", "bigraph:1x4")[row, "16 KiB"]["agrees"] == agrees
    words = certree("reproduce", small(tmp_path), "--jobs", "1").out
    assert "bigraph:1x4 ring / tree: 16 KiB (" in words
    assert "the switch is in the way" in words
    assert "No reason is known." in words


@pytest.mark.parametrize(
    ("paper", "agrees"), [("> 1", False), ("< 1", False), ("> 99/100", True), ("< 101/100", True), ("fast", False), ("-", None)]
)
def test_words_of_more_and_less(tmp_path, paper, agrees):
    """`> x` and `< x` exclude x; the first statement that matches counts; texts must be equal."""
    target = small(
        tmp_path, ('over = "ring" }', 'over = "tree" }'), ("* ring /", "* tree /"), ('paper = "2"', f'paper = "{paper}"')
    )
    cell = cells_of(target, "--topology", "ring:3")["ring:3 tree / tree", "16 KiB"]
    assert (cell["ours"], cell["agrees"], cell["paper"]) == ("1", agrees, None if paper == "-" else paper)


def test_values_in_turn(tmp_path):
    """A list of values goes to the cells of its rows one by one."""
    target = small(tmp_path, ('["16KiB"]', '["16KiB", "32KiB"]'), ('paper = "2"', 'paper = ["2", "-"]'))
    cells = cells_of(target, "--topology", "ring:4").items()
    assert [cell["paper"] for (row, _), cell in cells if "/" in row] == ["2", None]


def test_lines_of_all_kinds(tmp_path):
    """Each line grows from its own first cell; the fastest of several runs counts; ratios have a mean."""
    found = cells_of(small(tmp_path, name="growth"))
    cycles = {place: cell["cycles"] for place, cell in found.items() if "cycles" in cell}
    for (line, network), value in cycles.items():
        assert Fraction(found[line, network]["ours"]) == Fraction(value, cycles[line, "torus:3x3"])
    for network in ("torus:3x3", "torus:4x4"):
        assert cycles["near", network] < cycles["paced", network] <= cycles["slots", network]
        assert cycles["fastest", network] == min(cycles["paced", network], cycles["slots", network])
        assert found["fastest", network]["method"] == "multitree"
        assert "2 parts with a barrier" in found["rings", network]["reason"]
    assert found["paced / fastest", "mean"]["ours"] == "1"
    own = cells_of(small(tmp_path, name="growth"), "--topology", "bigraph:2x2")
    for cells, network in ((found, "torus:4x4"), (own, "bigraph:2x2")):
        assert [column for row, column in cells if row == "elsewhere"] == [network]


def test_sizes_beyond_routers_up_to_leave_routers_out(tmp_path):
    """They are not exact, and say so."""
    limit = [("sizes", 'routers_up_to = "32KiB"\nsizes')]
    exact, other = (list(cells_of(small(tmp_path, *changes, name="meeting")).values()) for changes in ([], limit))
    assert [cell["cycles"] for cell in exact] == [6_577, 10_297]
    assert [cell["cycles"] for cell in other] == [6_577, 10_041]
    assert [cell["exact"] for cell in exact + other] == [True, True, True, False]
    assert [cell.get("reason") for cell in other] == [None, WITHOUT_ROUTERS]


def test_changed_configurations_are_not_mixed_in(tmp_path):
    """What a result depends on is in its key: the machine's parameters, and a network's links, not the names of their files."""
    net, machine = tmp_path / "net.json", tmp_path / "own.toml"

    def run(latency, network):
        preset = changed(tmp_path, "models/machine/presets/multitree.toml", ("cycles = 150", f"cycles = {latency}"))
        preset.rename(machine)
        assert certree("topology", "convert", network, "-o", net, "--force").code == 0
        target = small(tmp_path, ('machine = "multitree"', f'machine = "{machine}"'))
        outcome = certree("reproduce", target, "--topology", net, "--jobs", "1", "-o", tmp_path / "out", "--json")
        return "there already" in outcome.err, [cell.get("cycles") for cell in outcome.document["cells"]]

    first = run(150, "ring:4")
    assert run(150, "ring:4") == (True, first[1])
    slower, larger = run(300, "ring:4"), run(300, "ring:5")
    assert not slower[0]
    assert not larger[0]
    assert first[1][0] < slower[1][0] < larger[1][0]


def test_interrupted_and_resumed(tmp_path):
    target = small(tmp_path, ('["16KiB"]', '["16KiB", "32KiB"]'), ("bigraph:1x4", "torus:16x16"))
    command = ("reproduce", target, "-o", tmp_path / "out")
    process = start(*command)
    while "1 of 16" not in process.stderr.readline():
        assert process.poll() is None
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=600)
    assert (process.returncode, out) == (130, "")
    assert "the same command resumes" in err
    assert "Traceback" not in err
    kept = [json.loads(path.read_text())["arguments"]["network"] for path in (tmp_path / "out" / "cells").iterdir()]
    assert 1 <= len(kept) < 16
    again = certree(*command, "--topology", "ring:4")
    assert f"{kept.count('ring:4')} of 8 cells are there already" in again.err
    assert again.code == 0


def test_other_networks(tmp_path):
    assert {row.split(" ")[0] for row, _ in cells_of(small(tmp_path), "--topology", "ring:3")} == {"ring:3"}


def test_title_is_of_what_is_computed(dead_links):
    """Network, size and draws of the subset; in the list those of the file."""
    assert dead_links[0].startswith("# All-reduce of 1 MiB on torus:4x4 with N random failed links (2 samples per N)\n")
    title = "All-reduce of 16MiB on torus:8x8 with N random failed links (20 samples per N)"
    assert targets()["dead-links"] == title
