"""`designs`: cells, the folder, an interruption and its continuation, and what is refused before anything runs."""

import csv
import html
import json
import re
import shlex
import tomllib
from fractions import Fraction
from importlib import resources

import pandas as pd
import pytest

import certree.api as ct
from certree.extras.designs.make import drawing
from certree.extras.designs.make.charts import Chart, Curve
from certree.extras.designs.make.drawing import figure_files, figure_of
from certree.extras.designs.run.running import designs
from certree.extras.designs.run.training_cell import from_grid
from certree.extras.sweeps.run import cells
from certree.models.machine.machine import load_machine
from certree.models.network.spec import parse_topology
from tests.cli.running import certree, json_of

SMALL_FILE = """
networks = ["ring:4", "full:4"]
sizes = ["1KiB", "1MiB"]
method = "multitree"
costs = ["assumed-200g", "assumed-cheap-optics"]
failures = { links = [1], draws = 2 }
sensitivity = { rates = ["2"], latencies = ["2"] }
training = { workloads = ["alexnet"] }
"""
SMALL = tomllib.loads(SMALL_FILE)


@pytest.fixture(scope="module")
def interrupted(tmp_path_factory):
    """A folder with three of the cells of SMALL: its table and page, and what the caller was shown."""
    where, shown = tmp_path_factory.mktemp("designs") / "out", []

    def stop(text):
        if text.startswith("3 of "):
            raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cells, "_SECONDS_BETWEEN_LINES", 0)
        with pytest.raises(KeyboardInterrupt):
            designs(SMALL, where, workers=1, progress=stop, interrupted=shown.append)
    return where, pd.read_csv(where / "cells.csv"), (where / "index.html").read_text(), shown


@pytest.fixture(scope="module")
def folder(interrupted):
    """The folder after the continuation, by the command."""
    where = interrupted[0]
    (where.parent / "small.toml").write_text(SMALL_FILE)
    done = certree("designs", where.parent / "small.toml", "-o", where, "--workers", 1)
    assert done.code == 0, done
    assert "3 of 14 cells are there already" in done.err
    assert done.out.startswith("Designs: 18 valid\n\nTimes:\nnetwork  all-reduce, 1 KiB  all-reduce, 1 MiB  iteration of alexnet\n")
    assert "\n\nRanking for equal endpoints, 2 of 2 cells decide" in done.out
    return where


def test_what_is_there_after_an_interruption(interrupted):
    _, frame, page, (found,) = interrupted
    done = frame[frame["status"] == "valid"]
    assert set(frame["status"]) == {"valid", "missing"}
    assert list(done["part"]) == ["grid"] * 3 + ["sensitivity", "training"]  # the last two from cells of the grid
    assert set(frame[frame["status"] == "missing"]["message"]) == {"not run yet", "the grid has no time of all-reduce of 1 MiB"}
    assert "not run yet" in page
    assert (found.rankings[0].cells, found.rankings[0].places[0].network) == (1, "full:4")


def test_views_of_the_page(folder):
    """Each network has a page with the schedule of its largest message; files of cells do not have it, too."""
    page = (folder / "index.html").read_text()
    for number, name in enumerate(("ring:4", "full:4"), 1):
        assert f'<a href="views/{number}.html">Interactive view of the schedule on {name}</a>' in page
        view = (folder / "views" / f"{number}.html").read_text()
        made = ct.synthesize(name, method="multitree", size="1MiB")
        assert view == ct.explore(made, size="1MiB").html
    assert not any("view" in json.loads(path.read_text()) for path in (folder / "cells").iterdir())


def test_a_page_that_is_missing_is_made_again(tmp_path):
    """A folder of before, or one that lost its pages, gets them by the same call; commands state what the schedule depends on."""
    fields = {"networks": ["ring:4"], "sizes": ["1KiB"], "method": "ring", "seed": 7, "effort": 2}
    ct.designs(fields, tmp_path / "out", workers=1)
    view = tmp_path / "out" / "views" / "1.html"
    first = view.read_bytes()
    view.unlink()
    ct.designs(fields, tmp_path / "out", workers=1)
    assert view.read_bytes() == first
    assert "--effort 2 --seed 7" in html.unescape((tmp_path / "out" / "index.html").read_text())


def test_tables_and_page_while_cells_run(tmp_path, monkeypatch):
    """They have what is done so far; pictures come at the end."""
    monkeypatch.setattr(cells.Seldom, "SECONDS_BETWEEN_CALLS", 0)
    monkeypatch.setattr(cells.Seldom, "SHARE", 0)
    monkeypatch.setattr(cells, "_SECONDS_BETWEEN_LINES", 0)
    seen = []

    def look(text):
        if text.startswith("1 of "):
            frame = pd.read_csv(tmp_path / "cells.csv")
            seen.extend(
                [list(frame["status"]), "not run yet" in (tmp_path / "index.html").read_text(), list(tmp_path.glob("*.svg"))]
            )

    asked = {"networks": ["ring:4", "full:4"], "sizes": ["1KiB"], "method": "multitree"}
    designs(asked, tmp_path, workers=1, progress=look)
    assert seen == [["valid", "missing"], True, []]


def test_an_interruption_while_pictures_are_drawn(tmp_path, monkeypatch):
    """The page is there before the pictures, and the caller gets what is done."""
    shown, calls = [], []

    def stop(*given):
        calls.append((tmp_path / "out" / "index.html").exists())
        if len(calls) == 1:
            raise KeyboardInterrupt
        return {}

    monkeypatch.setattr(drawing, "figure_files", stop)
    asked = {"networks": ["ring:4"], "sizes": ["1KiB"], "method": "hdrm"}
    with pytest.raises(KeyboardInterrupt):
        designs(asked, tmp_path / "out", workers=1, interrupted=shown.append)
    assert calls[0]
    assert shown[0].counts == {"not applicable": 1}
    calls.clear()
    document = json_of("designs", "ring:4", "--sizes", "1KiB", "--method", "hdrm", "-o", tmp_path / "out", code=130)
    assert (document["interrupted"], len(document["cells"])) == (True, 1)


@pytest.fixture
def whole(tmp_path):
    """The folder of a run without an interruption."""
    designs(SMALL, tmp_path / "whole", workers=1)
    return tmp_path / "whole"


def test_a_continuation_ends_with_the_same_bytes(folder, whole):
    names = [path.name for path in whole.iterdir() if path.is_file() and path.name != "times.csv"]
    assert len(names) == 14
    for name in names:
        assert (whole / name).read_bytes() == (folder / name).read_bytes(), name


def test_numbers_are_those_of_compare(folder):
    frame = pd.read_csv(folder / "cells.csv")
    grid = frame[frame["part"] == "grid"]
    for network in SMALL["networks"]:
        for cell in ct.compare(network, sizes=SMALL["sizes"], methods=["multitree"]).cells:
            (row,) = grid[(grid["network"] == network) & (grid["size_bytes"] == cell["message_bytes"])].to_dict("records")
            assert (row["time_cycles"], row["closed_form_cycles"]) == (cell["simulated_cycles"], cell["time_cycles"])
            assert (row["time_seconds_exact"], row["time_source"]) == (cell["simulated_seconds"], "simulated")
            assert row["time_bound_cycles"] == cell["time_bound_cycles"]
            assert row["busbw_GBps"] == float(Fraction(cell["busbw"]) * cell["time_cycles"] / cell["simulated_cycles"] / 10**9)


def test_columns_plot_as_they_are(folder):
    frame = pd.read_csv(folder / "cells.csv")
    for name in ("seconds", "algbw_GBps", "busbw_GBps", "time_over_bound", "iteration_seconds"):
        assert frame[name].dtype == float
    assert frame["status"].value_counts().to_dict() == {"valid": len(frame)}
    assert frame.groupby("part").size().to_dict() == {"failures": 6, "grid": 4, "sensitivity": 6, "training": 2}
    networks = pd.read_csv(folder / "networks.csv")
    assert list(networks["cost_model"]) == ["assumed-200g"] * 2 + ["assumed-cheap-optics"] * 2
    assert networks["cost"].dtype == float


def test_faster_links_take_half_the_cycles_of_time(folder):
    frame = pd.read_csv(folder / "cells.csv")
    ring = frame[(frame["part"] == "sensitivity") & (frame["network"] == "ring:4")].set_index(["rate_factor", "latency_factor"])
    assert 0.5 <= ring.loc[(2.0, 1.0), "seconds"] / ring.loc[(1.0, 1.0), "seconds"] < 0.6
    assert ring.loc[(1.0, 2.0), "seconds"] > ring.loc[(1.0, 1.0), "seconds"]


def test_training_says_which_sizes_the_grid_does_not_enclose(folder):
    rows = pd.read_csv(folder / "cells.csv").query("part == 'training'")
    words = rows["message"].iloc[0]
    assert re.fullmatch(r"[0-9]+ of [0-9]+ sizes of its all-reduces, .*, are beyond the grid, 1 KiB to 1 MiB, and .*", words)
    page = (folder / "index.html").read_text()
    assert words in page
    assert "some all-reduces are beyond the sizes of the grid: alexnet" in page
    topology, points = parse_topology("ring:4"), [(1, Fraction(1)), (1 << 40, Fraction(2))]
    assert from_grid("alexnet", topology, load_machine("multitree"), points)["message"] is None


def test_the_page_loads_nothing(folder):
    page = (folder / "index.html").read_text()
    loaded = re.findall(
        r"(?:src|href)=[\"']?([^\"'> ]*)|url\(|@import|fetch\(|import\(", re.sub(r'<a href="views/\d+.html">', "", page)
    )
    assert loaded[0] == "data:,"
    assert all(one.startswith("data:image/svg+xml;base64,") for one in loaded[1:])
    assert page.count("Ranking for") == 3
    data = json.loads(page.split('id="data">')[1].split("</script>")[0])
    assert {chart["figure"] for chart in data["charts"]} == {
        "throughput-all-reduce", "sensitivity", "failures", "training", "costs",
    }  # fmt: skip
    for name in ("throughput-all-reduce", "sensitivity", "failures", "training", "costs"):
        assert (folder / f"{name}.svg").read_text().startswith("<?xml")
        assert (folder / f"{name}.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("collective", ["broadcast@2", "all-reduce:members=0,2-3:relay=1"])
def test_the_commands_of_the_page_make_its_schedules(collective, tmp_path):
    ct.designs({"networks": ["ring:4"], "sizes": ["1KiB"], "collectives": [collective]}, tmp_path / "out", workers=1)
    page = html.unescape((tmp_path / "out" / "index.html").read_text())
    words = shlex.split(re.search(r"<code>certree (synthesize .*?) -o S.json", page)[1])
    made = json_of(*words)
    cells = list(csv.DictReader((tmp_path / "out" / "cells.csv").open()))
    assert {str(made["time_cycles"])} == {cell["time_cycles"] for cell in cells if cell["collective"] == collective}


def test_cut_and_not_applicable_cells_are_rows(tmp_path):
    found = designs({"networks": ["ring:4"], "sizes": ["1KiB"], "method": "hdrm"}, tmp_path / "a", workers=1)
    assert found.counts == {"not applicable": 1}
    assert found.rankings[0].places[0].reasons[0].startswith("ring:4 has no place: 1 cell has no result; the first one is not")
    found = designs(
        {"networks": ["ring:4"], "sizes": ["1KiB"], "method": "multitree", "time_limit": "1ms"}, tmp_path / "b", workers=1
    )
    assert (found.counts, found.exit_code) == ({"cut": 1}, 3)
    assert found.rows[0]["message"] == "took more than 0.001 s"


def test_networks_that_cost_nothing_are_refused(tmp_path):
    text = (resources.files("certree.extras.designs.model") / "presets" / "assumed-200g.toml").read_text()
    free = re.sub(r'^(cost|cost_per_metre|cost_per_kilowatt_hour) = ".*"', r'\1 = "0"', text, flags=re.M)
    (tmp_path / "free.toml").write_text(free)
    with pytest.raises(ct.InputError, match=r"network costs assumed-200g: ring:4 costs nothing"):
        designs({"networks": ["ring:4"], "sizes": ["1KiB"], "costs": str(tmp_path / "free.toml")}, tmp_path / "out", workers=1)
    assert not (tmp_path / "out").exists()


def test_names_in_pictures():
    """A $ is no formula, and a name that begins with _ is in the legend."""
    names = ["_hidden.json", "a$\\frac$"]
    chart = Chart("f", "of a$\\frac$b", "x", "y", tuple(Curve(name, ((1.0, 1.0), (2.0, 3.0))) for name in names))
    assert figure_files([chart], names)[".svg"].startswith(b"<?xml")
    (legend,) = figure_of([chart], names).legends
    assert [text.get_text() for text in legend.get_texts()] == names


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"networks": ["ring:4", "ring:8"]}, r"equal is endpoints, and the networks differ: ring:4 has 4, ring:8 has 8 endpoints"),
        ({"networks": ["ring:4", "ring:4"]}, r"networks: ring:4 is listed twice"),
        ({"costs": "gold"}, r"costs: unknown network costs 'gold'"),
        ({"sizes": []}, r"sizes is \[\]; expected a list, not empty"),
        ({"colour": 1}, r"unknown field 'colour'"),
        ({"failures": {"links": [1], "draws": 1001}}, r"failures: draws is 1001; allowed: whole numbers from 1 to 1000"),
        ({"training": {"workloads": ["bert", "bert"]}}, r"training: workloads: bert is listed twice"),
        ({"failures": {"link": [1]}}, r"failures: unknown field 'link'; did you mean 'links'"),
        ({"sensitivity": {"rates": ["0"]}}, r"rates 0 is '0'"),
        ({"sensitivity": {"rates": ["2000"]}}, r"rates: allowed are factors from 1/1000 to 1000"),
        ({"training": {"workloads": ["bert"], "method": "ring"}}, r"training: unknown workload 'bert'"),
        ({"training": {"workloads": ["alexnet"]}, "sizes": ["1KiB"]}, r"training takes its times from all-reduces of two"),
        ({"method": "fastest"}, r"unknown method 'fastest'"),
        ({"equal": "money"}, r"unknown equal 'money'"),
        ({"time_limit": "soon"}, r"time_limit: time 'soon'"),
        ({"failures": {"links": [9]}}, r"failures: .*ring:4 less 9 links"),
        ({"networks": ["switch:80"]}, r"network costs assumed-200g: no switch has 80 ports"),
    ],
)
def test_refused_before_anything_runs(changed, reason, tmp_path):
    with pytest.raises(ct.InputError, match=reason):
        designs({"networks": ["ring:4", "full:4"], "sizes": ["1KiB"], **changed}, tmp_path / "out", workers=1)
    assert not (tmp_path / "out").exists()
