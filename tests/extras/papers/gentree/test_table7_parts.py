"""What GenTree's Table 7 is made of, as docs/benchmarks/papers.md has it: recomputed from the paper's cells and Table 5."""

from fractions import Fraction
from importlib import resources

import pytest

from certree.extras.costs.model.formulas.genmodel import load_genmodel
from certree.extras.costs.model.profile import factored_profile, pairwise_profile
from certree.extras.papers.experiments.costs.flow_times import FlowTimes, time_flows
from certree.extras.papers.target import load_target
from certree.models.common.presets import parse_toml

SIZES = {"1e7": Fraction(1), "3.2e7": Fraction("3.2"), "1e8": Fraction(10)}
MODEL = load_genmodel("gentree")
ALPHA, ACROSS = MODEL.server.alpha_seconds, MODEL.cross.alpha_seconds
MEGA = 10**7
ROUNDING = Fraction(1, 2000)  # half of the last digit


def stated():
    text = (resources.files("certree.extras.papers.targets") / "gentree-table7.toml").read_bytes()
    rows = {entry["row"].replace("[*]", "*"): map(Fraction, entry["paper"]) for entry in parse_toml(text, "table")["stated"]}
    return {row: dict(zip(SIZES, values, strict=True)) for row, values in rows.items()}


#: row: start-up, and seconds for each 10^7 floats as printed in the README
LINES = {
    "SS24 CPS": (6 * ALPHA, "0.1634"),
    "SS32 CPS": (6 * ALPHA, "0.1840"),
    "SS24 Ring": (144 * ALPHA, "0.1340"),
    "SS32 Ring": (192 * ALPHA, "0.1354"),
    "SS32 RHD": (30 * ALPHA, "0.1396"),
    "SS24 GenTree": (12 * ALPHA, "0.1325"),
    "SS32 GenTree": (12 * ALPHA, "0.1338"),
    "SYM384 CPS": (10 * ALPHA, "2.2082"),
    "CDC384 CPS": (8 * ALPHA + 2 * ACROSS, "11.7769"),
    "SYM384 Ring": (400 * ALPHA, "0.3110"),
    "CDC384 Ring": (320 * ALPHA + 80 * ACROSS, "4.0074"),
    "SYM384 GenTree": (32 * ALPHA, "0.3364"),
    "CDC384 GenTree": (30 * ALPHA + 2 * ACROSS, "2.5131"),
    "CDC384 GenTree*": (20 * ALPHA + 2 * ACROSS, "4.2924"),
}
#: rows whose plan at 1e7 floats is another one
CHANGING = {"SS24 GenTree", "SYM384 GenTree", "CDC384 GenTree"}


@pytest.mark.parametrize("row", LINES)
def test_every_row_is_a_line(row):
    """To the last digit of every cell."""
    start_up, slope = LINES[row][0], Fraction(LINES[row][1])
    for size, seconds in stated()[row].items():
        if size == "1e7" and row in CHANGING:
            continue
        assert abs(start_up + slope * SIZES[size] - seconds) <= ROUNDING


def slope_of(profile):
    return MEGA * profile.seconds(MODEL.middle, MODEL.server, Fraction(0), Fraction(1))


def test_slopes_on_one_switch():
    """Table 2, changed as the README says."""
    server, middle = MODEL.server, MODEL.middle
    for servers, row in ((24, "0.1631"), (32, "0.1837")):
        incast = MEGA * 2 * Fraction(servers - 1, servers) * middle.epsilon_seconds_per_float
        assert round(slope_of(factored_profile((servers,))) - incast, 4) == Fraction(row)
    for servers, row in ((24, "0.1338"), (32, "0.1352")):
        assert round(slope_of(pairwise_profile(servers, 2 * (servers - 1))), 4) == Fraction(row)
    assert round(slope_of(pairwise_profile(32, 10)) * Fraction(32, 31), 4) == Fraction("0.1396")
    addition = MEGA * Fraction(1, 8) * (server.gamma_seconds_per_float + 3 * server.delta_seconds_per_float)
    for factors, row in (((8, 3), "0.1323"), ((8, 4), "0.1337")):
        assert round(slope_of(factored_profile(factors)) + addition, 4) == Fraction(row)


def test_slopes_of_co_located_ps_on_trees():
    """The target's reading by hand. On SYM384 a server has 360 of 384 peers behind the root, on CDC384 256 peers of one of the
    second data centre are across; what they send passes uplinks, downlinks and the servers' own links."""
    middle, root, cross, server = MODEL.middle, MODEL.root, MODEL.cross, MODEL.server

    def incast(level, load, senders):
        return load * (senders + 1 - level.incast_threshold) * level.epsilon_seconds_per_float

    reduction = Fraction(383, 384) * server.gamma_seconds_per_float + Fraction(385, 384) * server.delta_seconds_per_float
    far = Fraction(360, 384)
    inside = 24 * far * root.beta_seconds_per_float
    inside += incast(root, 24 * far, 24) + incast(root, 24 * far, 360) + incast(middle, far, 383)
    assert round(MEGA * (2 * inside + reduction), 4) == Fraction("2.1473")
    share = Fraction(1, 384)
    across = 256 * 128 * share * cross.beta_seconds_per_float
    across += incast(root, 32 * 128 * share, 32) + incast(root, 16 * 256 * share, 368) + incast(middle, 256 * share, 383)
    assert round(MEGA * (2 * across + reduction), 4) == Fraction("12.0320")


def seconds_of(row):
    """Start-up and slope of a line of the target, in its reading."""
    experiment = load_target("gentree-table7").experiment
    assert isinstance(experiment, FlowTimes)
    (task,) = (task for line, task in zip(experiment.lines, experiment.tasks(), strict=True) if line.name == row)
    entry = time_flows(dict(task.arguments) | {"floats": ["1e7"]})["times"][0][0]
    start_up = Fraction(entry["start_up_seconds"])
    return start_up, Fraction(entry["seconds"]) - start_up


@pytest.mark.parametrize(
    ("row", "slope", "off"),
    [("SYM384 Ring", "0.3140", "0.006"), ("CDC384 Ring", "4.0076", "0.0001"), ("SS24 Ring", "0.1338", "0.002")],
)
def test_rings_whose_distance_is_their_size(row, slope, off):
    """All three sizes of the paper to so small a part."""
    start_up, mine = seconds_of(row)
    assert (start_up, round(mine, 4)) == (LINES[row][0], Fraction(slope))
    for size, seconds in stated()[row].items():
        assert abs((start_up + mine * SIZES[size]) / seconds - 1) < Fraction(off)


def test_what_is_left_of_gentree():
    left = {row: Fraction(LINES[row][1]) for row in ("SYM384 GenTree", "CDC384 GenTree", "CDC384 GenTree*")}
    # 8x2 between the switches: 15/16 of the vector over each uplink there and back, and what servers add up of a 24th of it
    root = 2 * Fraction(15, 16) * MODEL.root.beta_seconds_per_float
    reduce = Fraction(1, 24) * (
        Fraction(15, 16) * MODEL.server.gamma_seconds_per_float
        + (Fraction(9, 8) + Fraction(3, 16)) * MODEL.server.delta_seconds_per_float
    )
    assert round(MEGA * (root + reduce), 4) == Fraction("0.0123")
    assert round(left["SYM384 GenTree"] - Fraction("0.1325"), 4) == Fraction("0.2039")
    assert round(MEGA * Fraction(4, 3) * MODEL.cross.beta_seconds_per_float, 4) == Fraction("0.0853")
    assert round(left["CDC384 GenTree"] - Fraction("0.1338"), 3) == Fraction("2.379")
    assert round(left["CDC384 GenTree*"] - Fraction("0.1338"), 3) == Fraction("4.159")
