"""`certree compare`: one cell for each method and size, or the reason why there is none."""

from fractions import Fraction

import pytest

from certree.extras.reports.make import plots
from certree.extras.reports.make.figure import Panel, Plot, Series
from certree.models.network.spec import parse_topology
from certree.synth import filling
from certree.synth.ranks.embedding import channels_that_fill
from tests.cli.running import assert_bad_input, certree, json_of


def test_cells():
    outcome = json_of("compare", "ring:4", "--size", "16KiB,1MiB", "--methods", "ring,multitree", "--simulate", "none")
    cells = outcome["cells"]
    assert [(cell["message_bytes"], cell["method"]) for cell in cells] == [
        (16384, "ring"), (16384, "multitree"), (1 << 20, "ring"), (1 << 20, "multitree"),
    ]  # fmt: skip
    for cell in cells:
        made = json_of("synthesize", "ring:4", "--method", cell["method"], "--size", f"{cell['message_bytes']}")
        for key in ("time_cycles", "steps", "total_steps", "bandwidth_time", "bandwidth_bound", "gap", "optimal_in"):
            assert cell[key] == made[key]
        bound = Fraction(cell["bandwidth_bound"]) * cell["message_bytes"] / 16  # bytes a cycle of a unit link
        assert Fraction(cell["bound_cycles"]) == bound < cell["time_bound_cycles"] == made["time_bound_cycles"]
        assert Fraction(cell["time_over_bound"]) == Fraction(cell["time_cycles"], cell["time_bound_cycles"])
        assert "simulated_cycles" not in cell


def test_simulated():
    (cell,) = json_of("compare", "ring:4", "--size", "16KiB", "--methods", "ring")["cells"]
    assert cell["simulated_cycles"] == cell["time_cycles"]
    assert (cell["contention_cycles"], cell["data_ok"]) == (0, True)


def test_what_cannot_be_paced_says_so():
    asked = ["compare", "mesh:3x3", "--size", "64KiB", "--methods", "recursive-doubling", "--json"]
    (cell,) = certree(*asked, "--simulate", "paced").document["cells"]
    assert cell["simulated_cycles"] is None
    assert "only slots keep the two apart" in cell["not_simulated"]


def test_methods_that_do_not_apply_give_their_reason():
    outcome = certree("compare", "mesh:4x5", "--size", "16KiB", "--methods", "multitree,exact")
    assert outcome.code == 0
    assert "multitree" in outcome.out
    assert "exact: exact covers up to 16 endpoints; mesh:4x5 has 20" in outcome.err
    assert "exact" not in outcome.out
    document = json_of("compare", "mesh:4x5", "--size", "16KiB", "--methods", "exact")
    assert document["cells"] == [
        {"method": "exact", "message_bytes": 16384, "not_applicable": "exact covers up to 16 endpoints; mesh:4x5 has 20"}
    ]


def test_table_has_a_line_for_each_cell():
    lines = certree("compare", "ring:4", "--size", "16KiB,1MiB", "--methods", "ring,multitree").out.splitlines()
    assert lines[0] == "all-reduce on ring:4, machine multitree"
    assert lines[1].split() == [
        "size", "method", "cycles", "time", "algbw", "GB/s", "busbw", "GB/s", "simulated", "contention", "time", "/", "bound",
        "bandwidth", "time", "gap", "steps",
    ]  # fmt: skip
    assert [line.split()[:3] for line in lines[2:]] == [
        ["16", "KiB", "ring"], ["16", "KiB", "multitree"], ["1", "MiB", "ring"], ["1", "MiB", "multitree"],
    ]  # fmt: skip


def test_methods_with_options_and_what_is_refuted_as_published():
    """A published double binary tree has contention on a mesh: refuted, while its serialization is compared."""
    entries = "double-binary-tree,double-binary-tree:rounds=published"
    outcome = certree("compare", "mesh:4x4", "--size", "16KiB", "--methods", entries, "--simulate", "none", "--json")
    serialized, published = outcome.document["cells"]
    assert serialized["valid"]
    assert published["method"] == "double-binary-tree:rounds=published"
    assert published["valid"] is False
    assert "capacity" in published["refuted"] or "contention" in published["refuted"]
    said = certree("compare", "mesh:4x4", "--size", "16KiB", "--methods", entries, "--simulate", "none")
    assert "invalid: " in said.err


def test_values_of_options_may_have_commas():
    """Two methods: what goes on with OPTION=VALUE belongs to the value before it."""
    methods = "ring, retime:of=ring,bidirectional=true:from=paced"
    cells = json_of("compare", "ring:4", "--size", "4KiB", "--methods", methods, "--simulate", "none")["cells"]
    assert sorted(cell["method"] for cell in cells) == ["retime:of=ring,bidirectional=true:from=paced", "ring"]
    assert_bad_input(certree("compare", "ring:4", "--methods", "a=1,ring"), "unknown method 'a=1'")


@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_plot(tmp_path, suffix):
    """The bytes are the same twice; a line for each method and the bound."""
    files = [tmp_path / f"{name}.{suffix}" for name in "ab"]
    for file in files:
        asked = ["compare", "ring:4", "--size", "16KiB,1MiB", "--methods", "ring,multitree,exact", "--simulate", "none"]
        assert certree(*asked, "-o", str(file)).code == 0
    assert files[0].read_bytes() == files[1].read_bytes()
    assert files[0].read_bytes().startswith(b"\x89PNG" if suffix == "png" else b"<?xml")


def test_cells_say_on_which_engine_they_ran():
    asked = ("compare", "fattree:4x4", "--size", "64KiB", "--methods", "halving-doubling,multitree", "--simulate", "paced")
    keys = ("simulated_cycles", "engine", "exact")
    through, without = (json_of(*asked, *more)["cells"] for more in ((), ("--without-routers",)))
    assert [tuple(cell[key] for key in keys) for cell in through] == [(10_297, "flit", True), (9_027, "flit", True)]
    assert [tuple(cell[key] for key in keys) for cell in without] == [(10_041, "fast", False), (8_977, "fast", False)]


def cells_of_many(methods, sizes):
    """Cells with times that differ by method and size."""
    return [
        {"method": f"m{number}", "message_bytes": size, "time_cycles": size * (number + 1), "time_bound_cycles": size,
         "time_over_bound": str(number + 1), "simulated_cycles": None}
        for number in range(methods) for size in sizes
    ]  # fmt: skip


def axes_of(monkeypatch, methods, sizes):
    """The figure that `comparison_plot` draws."""
    drawn = []
    monkeypatch.setattr(plots, "_bytes", lambda figure, suffix: drawn.append(figure) or b"")
    plots.comparison_plot(cells_of_many(methods, sizes), "title", ".svg")
    return drawn[0]


def test_plot_of_one_size_has_bars(monkeypatch):
    figure = axes_of(monkeypatch, 3, [1 << 20])
    left, right = figure.axes
    assert [bar.get_width() for bar in left.patches] == [(1 << 20) * factor for factor in (3, 2, 1)]
    assert [bar.get_width() for bar in right.patches] == [3, 2, 1]
    assert [label.get_text() for label in left.get_yticklabels()] == ["m2", "m1", "m0"]
    assert figure.get_suptitle() == "title, 1 MiB"


def test_plot_of_many_methods_names_the_fastest(monkeypatch):
    figure = axes_of(monkeypatch, 14, [1024, 2048])
    (legend,) = figure.legends
    names = [text.get_text() for text in legend.get_texts()]
    assert names == ["6 slower at 2 KiB", *(f"m{number}" for number in reversed(range(8))), "time bound"]


def test_legend_and_title_do_not_overlap(monkeypatch):
    figure = axes_of(monkeypatch, 8, [1024, 2048])
    figure.draw_without_rendering()
    renderer = figure.canvas.get_renderer()
    (legend,) = figure.legends
    assert not legend.get_window_extent(renderer).overlaps(figure._suptitle.get_window_extent(renderer))


@pytest.mark.parametrize(("names", "panels"), [(3, 1), (14, 1), (14, 4), (7, 2)])
def test_legend_of_a_figure_covers_nothing(monkeypatch, names, panels):
    """At the side, or below where it has many names; titles of two lines above."""
    drawn = []
    monkeypatch.setattr(plots, "_bytes", lambda figure, suffix: drawn.append(figure) or b"")
    series = tuple(Series(f"a method with a long name {number}", ((1, number + 1.0), (2, number + 2.0))) for number in range(names))
    shown = Plot(tuple(Panel(f"panel {number}", series) for number in range(panels)), "x", "y")
    plots.figure_plot(shown, "All-reduce bandwidth of many methods in bytes a cycle, which is GB/s at 1 GHz, in one figure", ".svg")
    (figure,) = drawn
    figure.draw_without_rendering()
    renderer = figure.canvas.get_renderer()
    (legend,) = (one.get_window_extent(renderer) for one in figure.legends)
    others = [axes.get_tightbbox(renderer) for axes in figure.axes if axes.get_visible()]
    assert not any(legend.overlaps(other) for other in (*others, figure._suptitle.get_window_extent(renderer)))


def test_the_same_cells_whatever_the_number_of_workers():
    """Also of a collective with a root, and of a method that does not apply."""
    broadcast = ("--collective", "broadcast", "--root", "3")
    for network, methods, more in (("ring:3", "auto,multitree,hdrm", ()), ("mesh:2x3", "binomial,multitree,hdrm", broadcast)):
        asked = ("compare", network, "--size", "1KiB,64KiB", "--methods", methods, *more)
        assert json_of(*asked) == json_of(*asked, "--workers", 2)


def test_published_algorithms_fill_wide_links():
    """With 12 NVLinks to the switch, 12 rings: as `--method ring --option channels=12`. Not where that is slower, and never where
    channels or published rounds are asked for."""
    names = "ring,ring:channels=1,ring:bidirectional=true,packing,double-binary-tree:rounds=published"
    asked = ("compare", "a100:1", "--size", "1KiB,16MiB", "--methods", names, "--simulate", "none")
    small, large = (document[index : index + 5] for document in [json_of(*asked)["cells"]] for index in (0, 5))
    assert not any("options" in cell for cell in small)
    assert [cell.get("options") for cell in large] == [{"channels": "12"}, None, {"channels": "12"}, None, None]
    filled, single, *_ = large
    made = json_of("synthesize", "a100:1", "--method", "ring", "--option", "channels=12", "--size", "16MiB")
    assert (filled["time_cycles"], filled["bandwidth_time"]) == (made["time_cycles"], "7/48") == (146_536, made["bandwidth_time"])
    plain = json_of("synthesize", "a100:1", "--method", "ring", "--size", "16MiB")
    assert (single["time_cycles"], single["chunks"]) == (plain["time_cycles"], 8) == (1_222_989, plain["chunks"])
    lines = certree(*asked).out.splitlines()
    assert lines[1] == "  channels=12: published algorithms fill wide links where that is faster; NAME:channels=1 does not"
    assert [line.split()[2] for line in lines[3:] if line.startswith("16 MiB")][:3] == [
        "ring:channels=12", "ring:channels=1", "ring:bidirectional=true:channels=12",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("network", "channels"),
    [("a100:1", 12), ("nvl72", 18), ("dgx2", 6), ("ring:4,capacity=3", 6), ("mi300x", 64), ("fattree:4x4", 1), ("torus:4x4", 1)],
)
def test_channels_that_fill(network, channels):
    """All lanes out of an endpoint, where links are wide or several lead into switches; up to MOST_CHANNELS."""
    assert channels_that_fill(parse_topology(network)) == channels


def test_links_are_not_filled_with_too_many_transfers(monkeypatch):
    monkeypatch.setattr(filling, "MOST_TRANSFERS", 12 * 112 - 1)
    (cell,) = json_of("compare", "a100:1", "--size", "16MiB", "--methods", "ring", "--simulate", "none")["cells"]
    assert "options" not in cell
    monkeypatch.setattr(filling, "MOST_TRANSFERS", 12 * 112)
    (cell,) = json_of("compare", "a100:1", "--size", "16MiB", "--methods", "ring", "--simulate", "none")["cells"]
    assert (cell["options"], cell["transfers"]) == ({"channels": "12"}, 12 * 112)
