"""Plots of sweeps and comparisons: networks on one pair of axes, and texts that keep apart."""

from fractions import Fraction
from itertools import combinations
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
import pytest
from matplotlib.text import Text

import certree.api as ct
from certree.extras.designs.make import drawing
from certree.extras.designs.make.charts import Chart, Curve
from certree.extras.reports.make import plots
from certree.extras.sweeps.command import compare as command
from certree.extras.sweeps.run import cells
from certree.extras.sweeps.run.results.figures import figures
from tests.cli.running import certree, json_of

LONG = "dragonfly:8x4x2@2,without-link=71-75,without-link=69-73"


def rows(networks, methods=("auto",), sizes=(1024, 1 << 20)):
    """A cell for each combination."""
    return [
        {"network": network, "method": method, "size": size, "run": "slotted", "collective": "all-reduce", "time_cycles": size}
        for network in networks
        for method in methods
        for size in sizes
    ]


def test_networks_are_on_one_pair_of_axes():
    found = figures(rows(["ring:4", "ring:8", "full:4"], ["ring", "multitree"]))
    (panel,) = found["size"][1].panels
    assert len(panel.series) == 6
    assert panel.series[0].name == "ring on ring:4"
    assert len(figures(rows([f"ring:{size}" for size in range(3, 16)]))["size"][1].panels) == 12


def overlapping(figure):
    """Pairs of texts of a figure whose boxes share room, and texts that do not fit into it."""
    figure.canvas.draw()
    shown = {id(text) for axes in figure.axes if axes.get_visible() for axis in (axes.xaxis, axes.yaxis) for text in ticks(axis)}
    ends = {id(text) for axes in figure.axes for axis in (axes.xaxis, axes.yaxis) for text in axis.get_ticklabels(which="both")}
    seen = [text for text in figure.findobj(Text) if text.get_text().strip() and text.get_visible()]
    texts = [text for text in seen if id(text) in shown or id(text) not in ends]
    boxes = [(text.get_text(), text.get_window_extent()) for text in texts]
    outside = [words for words, box in boxes if box.x0 < -1 or box.y0 < -1 or box.x1 > figure.bbox.x1 + 1]
    return [(a, b) for (a, one), (b, other) in combinations(boxes, 2) if one.padded(-1).overlaps(other.padded(-1))], outside


def ticks(axis):
    """The labels of the ticks that an axis draws."""
    low, high = sorted(axis.get_view_interval())
    both = [*axis.get_major_ticks(), *axis.get_minor_ticks()]
    return [tick.label1 for tick in both if low <= tick.get_loc() <= high]


@pytest.mark.parametrize("count", [2, 7])
def test_texts_of_sweeps_keep_apart(count, monkeypatch):
    shown = []
    monkeypatch.setattr(plots, "_bytes", lambda figure, _suffix: shown.append(figure) or b"")
    names = [f"torus:{size}x{size}x{size},without-link=0-1" for size in range(3, 3 + count)]
    for title, plot in figures(rows(names, ["multitree", "packing"])).values():
        plots.figure_plot(plot, title, ".svg")
    assert len(shown) == 3
    for figure in shown:
        assert overlapping(figure) == ([], [])
        plt.close(figure)


def test_overlaps_are_found():
    figure, axes = plt.subplots()
    axes.set_xticks([0, 0.001], ["one name", "other name"])
    axes.set_title("a title that is much longer than the picture is broad " * 3)
    pairs, outside = overlapping(figure)
    assert (pairs, len(outside)) == ([("one name", "other name")], 1)
    plt.close(figure)


def test_texts_of_designs_keep_apart():
    names = [LONG, "fattree:8x8", "hyperx:4x4@4", *(f"torus:{size}x8" for size in range(3, 12))]
    sizes = tuple(1 << power for power in range(10, 31))
    curves = tuple(Curve(name, tuple((size, index * size / 7e8) for size in sizes)) for index, name in enumerate(names))
    bars = tuple(Curve(name, (("astra-resnet50", 3.0), ("multitree-transformer", 90.0))) for name in names)
    charts = [
        Chart("a", f"all-reduce: busbw on {LONG} and others", "message size", "busbw, GB/s", curves, "bytes"),
        Chart("a", "all-reduce: time", "message size", "time, µs", curves[1:], "bytes", "log", "12 cells are not drawn"),
        Chart("a", "Training: iteration", "workload", "iteration, ms", bars, "names"),
    ]
    figure = drawing.figure_of(charts, names)
    assert overlapping(figure) == ([], [])
    plt.close(figure)


def test_an_interrupted_sweep_has_its_table_and_plots(tmp_path, monkeypatch):
    """Cells that are not run are rows with the status `missing`; seconds are numbers, next to the exact fractions."""
    monkeypatch.setattr(cells, "_SECONDS_BETWEEN_LINES", 0)

    def stop(text):
        if text.startswith("2 of 3"):
            raise KeyboardInterrupt

    asked = {"networks": ["ring:4"], "sizes": ["1KiB", "2KiB", "4KiB"], "methods": ["ring"], "bounds": "cheap"}
    with pytest.raises(KeyboardInterrupt):
        ct.sweep(asked, tmp_path / "out", workers=1, progress=stop)
    frame = pd.read_csv(tmp_path / "out" / "table.csv")
    assert list(frame["status"]) == ["valid", "valid", "missing"]
    assert frame["seconds"].dtype == float
    assert [float(Fraction(exact)) for exact in frame["seconds_exact"][:2]] == list(frame["seconds"][:2])
    assert list(frame["busbw_GBps"][:2]) == [float(Fraction(value) / 10**9) for value in frame["busbw"][:2]]
    assert (tmp_path / "out" / "plots" / "size.svg").exists()
    swept = ct.sweep(asked, tmp_path / "out", workers=1)
    assert swept.ran == 1
    assert list(swept.frame()["seconds"])[:2] == list(frame["seconds"])[:2]


def test_an_interrupted_comparison_prints_what_it_has():
    lines, shown = [], []

    def stop(text):
        lines.append(text)
        if len(lines) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ct.compare("ring:4", sizes=["1KiB", "1MiB"], methods=["ring", "multitree"], progress=stop, interrupted=shown.append)
    assert [(cell["message_bytes"], cell["method"]) for cell in shown[0].cells] == [(1024, "ring"), (1024, "multitree")]
    assert list(shown[0].frame()["seconds"]) == [1.135e-06, 7.99e-07]


def test_an_interrupted_comparison_is_one_document(monkeypatch):
    """The document is of the first network, since the second one is interrupted; it says so."""
    calls = []

    def stop(network, *given, **options):
        calls.append(network)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return ct.compare(network, *given, **options)

    monkeypatch.setattr(command, "compare", stop)
    document = json_of("compare", "ring:4", "full:4", "--size", "1KiB", "--methods", "ring", code=130)
    assert (document["interrupted"], document["topology"]) == (True, "ring:4")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["ring:4", "ring:4"], "ring:4 is listed twice"),
        (["ring:4", "ring:6", "--baseline", "made.json"], "compared is all-reduce on ring:6"),
        (["ring:4", "--methods", "hdrm", "-o", "p.svg"], "p.svg is not written: no cell has a time"),
    ],
)
def test_comparisons_that_are_refused(arguments, reason, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    certree("synthesize", "ring:4", "--method", "ring", "-o", "made.json")
    done = certree("compare", *arguments, "--size", "1KiB")
    assert (done.code, done.out.count("\n") < 3) == (2, True)
    assert reason in done.err.splitlines()[-1]
    assert not Path("p.svg").exists()


def test_several_networks(tmp_path):
    asked = ["compare", "ring:4", "full:4", "--size", "1KiB,2KiB", "--methods", "ring", "--simulate", "none"]
    done = certree(*asked, "-o", tmp_path / "plot.svg")
    assert [line for line in done.out.splitlines() if line.startswith("all-reduce")] == [
        "all-reduce on ring:4, machine multitree", "all-reduce on full:4, machine multitree",
    ]  # fmt: skip
    assert (tmp_path / "plot.svg").exists()
    document = json_of(*asked)
    assert [cell["topology"] for cell in document["cells"]] == ["ring:4"] * 2 + ["full:4"] * 2
    assert document["topology"] == "ring:4, full:4"
    refused = certree("compare", "ring:8", "ring:4", "--collective", "broadcast", "--root", "5", "--size", "1KiB")
    assert (refused.code, refused.out) == (2, "")
    assert "root 5 is not an endpoint of ring:4" in refused.err
