"""certree reproduce: figures of the papers, compared, explained, resumed, interrupted, on other networks, from one's own file."""

import csv
import json
import os
import signal
import xml.etree.ElementTree
from fractions import Fraction
from importlib import resources

import pytest

from certree.api.papers.experiments.collectives.all_reduce_runs import WITHOUT_ROUTERS
from certree.api.papers.experiments.collectives.authors_runs import run_as_authors
from certree.api.papers.experiments.collectives.dead_links import less_links
from certree.api.papers.target import load_target, targets
from certree.hw.authors.interface import Fault
from certree.models.common.errors import InputError
from certree.models.machine.machine import load_machine
from certree.models.network.spec import parse_topology
from tests.cli.running import assert_bad_input, certree, start

MINE = """
experiment = "all-reduce-runs"
title = "mine"
measure = "time"
machine = "multitree"
networks = ["ring:4", "bigraph:1x4"]
sizes = ["16KiB"]
ratios = [{ of = "tree", over = "ring" }]
tolerance = "1/10"
[[stated]]
row = "* ring / tree"
paper = "2"
says = "somewhere"
[[notes]]
row = "bigraph*"
text = '''the switch
 is in the way'''
[[lines]]
name = "ring"
method = "ring"
[[lines]]
name = "tree"
method = "multitree"
flow = "packet"
[[lines]]
name = "doubling"
method = "recursive-doubling"
[[lines]]
name = "hdrm"
method = "hdrm"
"""


def mine(tmp_path, text=MINE):
    (tmp_path / "mine.toml").write_text(text)
    return tmp_path / "mine.toml"


def test_every_target_can_be_read_and_copied(tmp_path):
    names = [name for name, _ in targets()]
    assert {"multitree-fig2", "multitree-fig9", "multitree-fig10"} <= set(names)
    listed = certree("reproduce").out
    for name in names:
        assert name in listed
        copy = mine(tmp_path, certree("reproduce", name, "--configuration").out)
        assert load_target(str(copy)).title in listed


def test_headers_of_packets():
    cells = certree("reproduce", "multitree-fig2", "--json").document["cells"]
    assert [(cell["column"], cell["paper"], cell["ours"], cell["agrees"]) for cell in cells] == [
        ("64 B", "1/4", "1/4", True),
        ("128 B", None, "1/8", None),
        ("256 B", "3/50", "1/16", True),
    ]


def test_scaling_in_small():
    """One network: the ring is the measure of all, and MultiTree three times as fast, as the paper says."""
    document = certree("reproduce", "multitree-fig10", "--smoke", "--json").document
    cells = {cell["row"]: cell for cell in document["cells"]}
    assert cells["ring"]["ours"] == "1"
    speedup = cells["ring / multitree-msg"]
    assert speedup["paper"] == "3"
    assert Fraction(speedup["ours"]) == 1 / Fraction(cells["multitree-msg"]["ours"])
    assert Fraction(speedup["difference"]) == Fraction(speedup["ours"]) / 3 - 1
    assert {row: cell["agrees"] for row, cell in cells.items() if cell["paper"] is not None} == {
        "ring / multitree-msg": True,
        "ring-2d / multitree-msg": True,
        "ring / multitree-msg, lockstep": False,
        "ring-2d / multitree-msg, lockstep": False,
    }


@pytest.mark.parametrize("name", ["multitree-fig2", "multitree-fig9", "multitree-fig10-variants", "multitree-strong-scaling"])
def test_smoke_of_targets(tmp_path, name):
    """Every file is written, every cell has a value or the reason, what differs is explained."""
    assert certree("reproduce", name, "--smoke", "--jobs", "1", "-o", tmp_path).code == 0
    files = {path.name for path in tmp_path.iterdir()}
    assert files == {"cells", "cells.json", "plot.png", "plot.svg", "table.csv", "table.md", "target.toml"}
    assert (tmp_path / "target.toml").read_text().startswith("# Run with --smoke\n# ")
    cells = json.loads((tmp_path / "cells.json").read_text())
    assert all(cell["ours"] is not None or cell["reason"] for cell in cells)
    assert any(cell["agrees"] for cell in cells) == (name != "multitree-strong-scaling")
    assert all(cell["why"] for cell in cells if cell["agrees"] is False)


def test_ours_beside_the_published_ones(tmp_path):
    """Simulated and by closed form: nothing takes less time than ours, and what no method makes has its reason."""
    assert certree("reproduce", "against-heuristics", "--smoke", "--jobs", "1", "-o", tmp_path).code == 0
    cells = json.loads((tmp_path / "cells.json").read_text())
    times = {cell["row"] + " " + cell["column"]: cell["ours"] for cell in cells if "line" in cell}
    assert all(value is None or Fraction(value) >= 1 for value in times.values())
    assert times["torus:4x4 1 MiB GenTree"] is None
    assert "has no switches" in next(cell["reason"] for cell in cells if cell["column"] == "GenTree")
    simulated = {cell["row"]: cell["ours"] for cell in cells if cell["column"] == "simulated, cycles"}
    target = certree("reproduce", "against-heuristics", "--configuration").out
    changes = {"closed_form = []": 'closed_form = ["torus:*"]', '["32KiB", "1MiB", "64MiB", "1GiB"]': '["32KiB"]'}
    for before, after in changes.items():
        target = target.replace(before, after)
    closed = certree("reproduce", mine(tmp_path, target), "--smoke", "--jobs", "1", "--json").document["cells"]
    assert {cell["ours"] for cell in closed if cell["column"] == "simulated, cycles"} == {"-"}
    in_slots = {cell["row"]: cell["ours"] for cell in closed if cell["column"] == "closed form, cycles"}
    assert in_slots["torus:4x4 32 KiB"] == simulated["torus:4x4 32 KiB"]  # played in slots, to the cycle
    assert_bad_input(certree("reproduce", mine(tmp_path, target.replace('name = "ring"', 'name = "certree"'))), "a name of its own")


def test_dead_links(tmp_path):
    """Draws are those of their seeds, the bound holds for each, and more dead links never help the bound."""
    assert certree("reproduce", "dead-links", "--smoke", "--jobs", "1", "-o", tmp_path).code == 0
    cells = json.loads((tmp_path / "cells.json").read_text())
    by_line = {line: {} for line in ("certree", "MultiTree", "bandwidth bound")}
    for cell in cells:
        if "by_seed" in cell:
            by_line[cell["line"]] |= {int(seed): Fraction(value) for seed, value in cell["by_seed"].items()}
    assert list(by_line["certree"]) == [0, 1000, 1001]
    for seed, bound in by_line["bandwidth bound"].items():
        assert bound < by_line["certree"][seed] <= by_line["MultiTree"][seed]
    assert by_line["bandwidth bound"][0] < min(by_line["bandwidth bound"][seed] for seed in (1000, 1001))
    target = certree("reproduce", "dead-links", "--configuration").out
    assert_bad_input(
        certree("reproduce", mine(tmp_path, target.replace("draws = 20", "draws = 0"))), "draws is 0; allowed: whole numbers from 1"
    )
    assert_bad_input(certree("reproduce", "dead-links", "--topology", "switch:4"), "expected a network of full-duplex links")


def test_drawn_links_are_gone_and_the_rest_holds_together():
    """The same seed draws the same; what is drawn is connected, even where most draws are not."""
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
    cells = certree("reproduce", "multitree-authors", "--smoke", "--json").document["cells"]
    ours = {(cell["row"].partition(",")[0], cell["column"]): int(cell["ours"]) for cell in cells if "/" not in cell["ours"]}
    assert ours["ring", "as theirs"] == 9344
    assert ours["multitree", "as theirs"] == ours["multitree", "least"] == ours["multitree", "most"] == 3526
    assert ours["multitree", "without any interface"] < 2700
    assert ours["multitree", "paced"] == 2517
    assert [cell["agrees"] for cell in cells if cell["column"] == "as theirs"] == [True, True]


@pytest.mark.parametrize(
    ("method", "chunks", "interfaces", "theirs", "paced"),
    [("ring-2d", None, 4, 5828, 3904), ("double-binary-tree", 16, 1, 10160, 10463)],
)
def test_schedules_of_the_authors_own(method: str, chunks: int | None, interfaces: int, theirs: int, paced: int):
    """What they play for these is not our schedule of that name, which is paced beside it, the 2D-ring in two parts."""
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
    asked = ("reproduce", mine(tmp_path), "--jobs", "1", "-o", tmp_path / "out")
    first = certree(*asked)
    assert first.code == 0
    assert "8 of 8" in first.err
    kept = sorted((tmp_path / "out" / "cells").iterdir())
    kept[0].unlink()
    kept[1].write_text('{"result": {"cyc')  # as a full disk leaves it
    again = certree(*asked)
    assert "6 of 8 cells are there already" in again.err
    assert again.out == first.out
    cells = json.loads((tmp_path / "out" / "cells.json").read_text())
    reasons = {cell["row"].split()[1]: (cell["ours"] is None, cell["reason"][:20]) for cell in cells if "reason" in cell}
    assert reasons == {"hdrm": (True, "hdrm needs a BiGraph"), "doubling": (False, "in slots, since it c")}
    assert first.out.strip() == (tmp_path / "out" / "table.md").read_text().strip()
    assert (tmp_path / "out" / "target.toml").read_text() == MINE
    rows = list(csv.DictReader((tmp_path / "out" / "table.csv").open()))
    assert [row["ours"] for row in rows] == [cell["ours"] or "" for cell in cells]
    assert (tmp_path / "out" / "plot.png").read_bytes().startswith(b"\x89PNG")
    assert xml.etree.ElementTree.parse(tmp_path / "out" / "plot.svg").getroot().tag.endswith("svg")


def test_what_differs_is_explained(tmp_path):
    """Exact arithmetic in the verdict: the same cell agrees at its own difference and not below."""
    outcome = certree("reproduce", mine(tmp_path), "--jobs", "1", "--json").document
    cells = {(cell["row"], cell["column"]): cell for cell in outcome["cells"]}
    bigraph = cells["bigraph:1x4 ring / tree", "16 KiB"]
    assert not bigraph["agrees"]
    assert bigraph["why"] == "the switch is in the way"
    assert "why" not in cells["ring:4 ring / tree", "16 KiB"]
    apart = abs(Fraction(bigraph["difference"]))
    for tolerance, agrees in ((apart, True), (apart - Fraction(1, 10**9), False)):
        changed = mine(tmp_path, MINE.replace('"1/10"', f'"{tolerance}"'))
        found = certree("reproduce", changed, "--jobs", "1", "--topology", "bigraph:1x4", "--json").document["cells"][-1]
        assert (found["row"], found["agrees"]) == (bigraph["row"], agrees)
    words = certree("reproduce", mine(tmp_path), "--jobs", "1").out
    assert "bigraph:1x4 ring / tree: 16 KiB (" in words
    assert "the switch is in the way" in words
    assert "No reason is known." in words


def test_words_of_more_and_less(tmp_path):
    """`> x` and `< x` exclude x; the first statement that matches counts; texts must be equal."""
    same = (
        MINE.replace('over = "ring" }', 'over = "tree" }')
        .replace('paper = "2"', 'paper = "> 1"')
        .replace("* ring / tree", "* tree / tree")
    )
    for paper, agrees in (("> 1", False), ("< 1", False), ("> 99/100", True), ("< 101/100", True), ("fast", False), ("-", None)):
        target = mine(tmp_path, same.replace("> 1", paper))
        cell = certree("reproduce", target, "--topology", "ring:3", "--jobs", "1", "--json").document["cells"][-1]
        assert (cell["row"], cell["ours"], cell["agrees"]) == ("ring:3 tree / tree", "1", agrees)
        assert cell["paper"] == (None if paper == "-" else paper)


def test_values_in_turn(tmp_path):
    """A list of values goes to the cells of its rows one by one."""
    text = MINE.replace('["16KiB"]', '["16KiB", "32KiB"]').replace('paper = "2"', 'paper = ["2", "-"]')
    cells = certree("reproduce", mine(tmp_path, text), "--topology", "ring:4", "--jobs", "1", "--json").document["cells"]
    assert [cell["paper"] for cell in cells if "/" in cell["row"]] == ["2", None]


GROWTH = """
experiment = "all-reduce-runs"
title = "growth"
measure = "growth"
machine = "multitree"
networks = ["torus:3x3", "torus:4x4"]
sizes = ["48KiB"]
ratios = [{ of = "fastest", over = "paced" }]
[[lines]]
name = "paced"
method = "multitree"
[[lines]]
name = "slots"
method = "multitree"
run = "slotted"
[[lines]]
name = "fastest"
method = ["ring", "multitree"]
run = "fastest"
[[lines]]
name = "near"
method = "multitree"
parameters = { link_latency_cycles = 1 }
[[lines]]
name = "rings"
method = "ring-2d"
[[lines]]
name = "elsewhere"
method = "hdrm"
networks = ["bigraph:*", "torus:4*"]
"""


def test_lines_of_all_kinds(tmp_path):
    """Each line grows from its own first cell; the fastest of several runs counts; ratios have a mean."""
    cells = certree("reproduce", mine(tmp_path, GROWTH), "--jobs", "1", "--json").document["cells"]
    found = {(cell["row"], cell["column"]): cell for cell in cells}
    cycles = {place: cell["cycles"] for place, cell in found.items() if "cycles" in cell}
    for (line, network), value in cycles.items():
        assert Fraction(found[line, network]["ours"]) == Fraction(value, cycles[line, "torus:3x3"])
    for network in ("torus:3x3", "torus:4x4"):
        assert cycles["near", network] < cycles["paced", network] <= cycles["slots", network]
        assert cycles["fastest", network] == min(cycles["paced", network], cycles["slots", network])
        assert found["fastest", network]["method"] == "multitree"
        assert "2 parts with a barrier" in found["rings", network]["reason"]
    assert found["paced / fastest", "mean"]["ours"] == "1"
    assert [cell["column"] for cell in cells if cell["row"] == "elsewhere"] == ["torus:4x4"]
    own = certree("reproduce", mine(tmp_path, GROWTH), "--topology", "bigraph:2x2", "--jobs", "1", "--json").document["cells"]
    assert [cell["column"] for cell in own if cell["row"] == "elsewhere"] == ["bigraph:2x2"]
    words = certree("reproduce", mine(tmp_path, GROWTH.replace('"48KiB"', '"48KiB", "1MiB"')))
    assert_bad_input(words, "is for one size; sizes are 48KiB, 1MiB")
    assert_bad_input(
        certree("reproduce", mine(tmp_path, GROWTH.replace("link_latency", "luck"))), "lines 4: parameters: unknown field"
    )


MEETING = """
experiment = "all-reduce-runs"
title = "messages that meet"
measure = "bandwidth"
machine = "multitree"
networks = ["fattree:4x4"]
sizes = ["32KiB", "64KiB"]
[[lines]]
name = "halves"
method = "halving-doubling"
"""


def test_sizes_beyond_routers_up_to_leave_routers_out(tmp_path):
    """They are not exact, and say so."""
    limited = MEETING.replace("sizes", 'routers_up_to = "32KiB"\nsizes')
    exact, other = (
        {cell["column"]: cell for cell in certree("reproduce", mine(tmp_path, text), "--jobs", "1", "--json").document["cells"]}
        for text in (MEETING, limited)
    )
    assert [cell["cycles"] for cell in exact.values()] == [6_577, 10_297]
    assert [cell["cycles"] for cell in other.values()] == [6_577, 10_041]
    assert [cell["exact"] for cell in (*exact.values(), *other.values())] == [True, True, True, False]
    assert [cell.get("reason") for cell in other.values()] == [None, WITHOUT_ROUTERS]
    bad = certree("reproduce", mine(tmp_path, MEETING.replace("sizes", 'routers_up_to = "some"\nsizes')))
    assert_bad_input(bad, "routers_up_to")


def test_changed_configurations_are_not_mixed_in(tmp_path):
    """What a result depends on is in its key: the machine's parameters, and a network's links, not the names of their files."""
    copy = certree("topology", "convert", "ring:4", "-o", tmp_path / "net.json")
    assert copy.code == 0
    asked = ("--topology", tmp_path / "net.json", "--jobs", "1", "-o", tmp_path / "out")
    machine = tmp_path / "own.toml"

    def run(latency, network):
        text = (resources.files("certree.models.machine") / "presets" / "multitree.toml").read_text()
        machine.write_text(text.replace("link_latency_cycles = 150", f"link_latency_cycles = {latency}"))
        certree("topology", "convert", network, "-o", tmp_path / "net.json", "--force")
        target = mine(tmp_path, MINE.replace('machine = "multitree"', f'machine = "{machine}"'))
        outcome = certree("reproduce", target, *asked, "--json")
        return "there already" in outcome.err, [cell.get("cycles") for cell in outcome.document["cells"]]

    first = run(150, "ring:4")
    assert run(150, "ring:4") == (True, first[1])
    slower = run(300, "ring:4")
    assert not slower[0]
    assert slower[1][0] > first[1][0]
    larger = run(300, "ring:5")
    assert not larger[0]
    assert larger[1][0] > slower[1][0]


def test_interrupted_and_resumed(tmp_path):
    target = mine(tmp_path, MINE.replace('["16KiB"]', '["16KiB", "32KiB"]').replace("bigraph:1x4", "torus:16x16"))
    command = ("reproduce", target, "-o", tmp_path / "out")
    process = start(*command)
    while "1 of 16" not in process.stderr.readline():
        assert process.poll() is None
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=600)
    assert process.returncode == 130
    assert out == ""
    assert "the same command goes on" in err
    assert "Traceback" not in err
    kept = [json.loads(path.read_text())["arguments"]["network"] for path in (tmp_path / "out" / "cells").iterdir()]
    assert 1 <= len(kept) < 16
    again = certree(*command, "--topology", "ring:4")
    assert f"{kept.count('ring:4')} of 8 cells are there already" in again.err
    assert again.code == 0


def test_other_networks(tmp_path):
    cells = certree("reproduce", mine(tmp_path), "--topology", "ring:3", "--jobs", "1", "--json").document["cells"]
    assert {cell["row"].split(" ")[0] for cell in cells} == {"ring:3"}
    assert_bad_input(certree("reproduce", "multitree-fig10", "--topology", "moebius:3"), "moebius")
    assert_bad_input(certree("reproduce", "multitree-fig2", "--topology", "ring:3"), "has networks of its own")


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        ('measure = "time"', 'measure = "luck"', "unknown measure 'luck'; known: bandwidth, time"),
        ('flow = "packet"', 'flow = "river"', "lines 2: unknown flow 'river'; known: message, packet"),
        ('method = "hdrm"', 'method = "magic"', "lines 4: unknown method 'magic'"),
        ('title = "mine"', "", "title is missing"),
        ('title = "mine"', "title = 3", "title is 3; expected a string"),
        ('"all-reduce-runs"', '"alchemy"', "unknown experiment 'alchemy'; known: "),
        ('sizes = ["16KiB"]', 'sizes = ["16 bananas"]', "size '16 bananas'"),
        ('sizes = ["16KiB"]', "sizes = []", "sizes is []; expected a list, not empty"),
        ('sizes = ["16KiB"]', "", "one of sizes and bytes_per_node is needed"),
        ('name = "hdrm"', 'nom = "hdrm"', "lines 4: name is missing"),
        ('name = "hdrm"', 'name = "ring"', "each with a name of its own"),
        ('over = "ring"', 'over = "moon"', "unknown over 'moon'; known: ring, tree"),
        ('over = "ring"', 'over = "ring", under = "ring"', "ratios 1: unknown field 'under'"),
        ('tolerance = "1/10"', 'tolerance = "some"', "tolerance is 'some'; expected a string such as"),
        ('tolerance = "1/10"', 'tolerance = "1/0"', "tolerance is '1/0'"),
        ('says = "somewhere"', "", "stated 1: says is missing"),
        ('machine = "multitree"', 'machine = "toaster"', "unknown machine 'toaster'"),
        ('title = "mine"', 'title = "mine"\nsurprise = 1', "unknown field 'surprise'"),
        ("title", "[title", "is not TOML"),
    ],
)
def test_bad_targets(tmp_path, before, after, reason):
    assert_bad_input(certree("reproduce", mine(tmp_path, MINE.replace(before, after, 1))), reason)


def test_unknown_targets():
    assert_bad_input(certree("reproduce", "multitree-fig99"), "unknown target 'multitree-fig99'; known: ")


AUTHORS = """
experiment = "authors-runs"
title = "mine"
machine = "multitree-authors"
orders = 1
[[runs]]
network = "torus:4x4"
method = "ring"
size = "32KiB"
flow = "packet"
interfaces = 1
"""


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        ("interfaces = 1", "interfaces = 0", "runs 1: interfaces is 0; allowed: whole numbers from 1 to 64"),
        ("orders = 1", 'orders = "many"', "orders is 'many'; allowed: whole numbers from 1"),
        ('method = "ring"', 'method = "ring"\nchunks = "x"', "runs 1: chunks is 'x'; allowed: whole numbers from 0"),
        ('method = "ring"', 'method = "ring"\nrouter = { vc_cycles = -1 }', "router: vc_cycles is -1; allowed"),
        ('flow = "packet"', 'flow = "river"', "runs 1: unknown flow 'river'; known: message, packet"),
    ],
)
def test_bad_runs_of_the_authors_simulator(tmp_path, before, after, reason):
    assert_bad_input(certree("reproduce", mine(tmp_path, AUTHORS.replace(before, after, 1))), reason)
