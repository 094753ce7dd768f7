"""Pictures of schedules: what is drawn where, what is left out and said, and that bytes repeat."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from certree.extras.reports.pictures.colours import CHUNKS, WRONG, ink_on, lightened, shade
from certree.extras.reports.pictures.schedules.load import load_picture
from certree.extras.reports.pictures.schedules.reductions import reductions_picture
from certree.extras.reports.pictures.schedules.rows import MOST_ROWS
from certree.extras.reports.pictures.schedules.spacetime import shares, spacetime_picture
from certree.extras.reports.pictures.schedules.trees import roots_of, trees_picture
from certree.extras.reports.pictures.schedules.uses import load_of, shown_of, uses_of
from certree.extras.reports.pictures.schedules.violation import violation_picture
from certree.extras.reports.pictures.schedules.waits import waits_picture
from certree.extras.reports.pictures.witness import witness_picture
from certree.models.common.errors import InputError, UnsupportedError
from certree.models.demand import Demand
from certree.models.fine.slots import fine_times
from certree.models.machine.machine import load_machine
from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import Collective, CollectiveKind, parse_collective
from certree.models.schedule.made_for import MadeFor
from certree.models.schedule.schedule_columns import NO_ROOT
from tests.models.examples import pair_all_reduce, ring_all_gather, schedule

SVG = "{http://www.w3.org/2000/svg}"


def texts(svg):
    return ["".join(text.itertext()) for text in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def hints(svg):
    return [title.text for title in ElementTree.fromstring(svg).iter(f"{SVG}title")]


def repeating_broadcast(repeats=5):
    rows = [(0, 1, step, step, step + 1) for step in range(3)]
    return schedule("mesh:4", Collective(CollectiveKind.BROADCAST, 0), [0], rows, period=1, repeats=repeats)


def test_uses_share_a_step_in_turns():
    crowded = schedule("mesh:2", "all-gather", [0, 0, 0], [(c, 1, 0, 0, 1) for c in range(3)], rounds=[2])
    uses = uses_of(crowded)
    assert uses.round.tolist() == [0, 1, 1]
    assert uses.fits.tolist() == [True, True, False]


def test_chunks_with_sizes_take_rounds_one_after_the_other():
    """alltoallv: 5 and 3 granules over a link in a step of 8 rounds, 3 over the next link."""
    rows = [(0, 1, 0, 0, 1), (1, 1, 0, 0, 1), (1, 1, 1, 1, 2)]
    collective = parse_collective("alltoallv", demand=Demand(((0, 1, 5), (0, 2, 3))))
    made = schedule("mesh:3", collective, [0, 0], rows, rounds=[8, 3], chunk_target=[1, 2], chunk_granules=[5, 3])
    uses = uses_of(made)
    assert uses.round.tolist() == [0, 5, 8]
    assert uses.length.tolist() == [5, 3, 3]
    assert uses.fits.all()
    assert load_of(made).tolist() == [8 / 11, 0, 3 / 11, 0]
    names, busy = shares(made, uses, shown_of(made), 11)
    assert names == ["0", "1", "2"]
    assert busy.tolist() == [[1] * 8 + [0] * 3, [0] * 8 + [0.5] * 3, [0] * 11]


def fine(slot_cycles):
    """All-reduce of 4 KiB between two nodes."""
    return pair_all_reduce(slot_cycles=slot_cycles, made_for=MadeFor(4096, load_machine("multitree")))


@pytest.mark.parametrize("slot", [1, 7])
def test_messages_in_fine_slots_are_as_long_as_they_are_on_the_link(slot):
    made = fine(slot)
    times, uses, shown = fine_times(made), uses_of(made), shown_of(made)
    found = times.reservations
    entries = dict(zip(zip(found.row.tolist(), found.pair.tolist(), strict=True), (found.entry // slot).tolist(), strict=True))
    assert dict(zip(zip(uses.row.tolist(), uses.pair.tolist(), strict=True), uses.round.tolist(), strict=True)) == entries
    assert set(uses.length.tolist()) <= {-(-times.ser // slot), -(-times.ser // slot) + 1}
    assert uses.fits.all()
    assert shown.columns == -(-int(times.landing.max()) // slot)
    busy = load_of(made) * made.topology.pair_capacity * shown.columns * slot
    assert np.allclose(busy, np.bincount(uses.pair, minlength=len(busy)) * times.ser)
    assert f"time in slots of {slot} cycles" in texts(spacetime_picture(made, "made", f" of {slot} cycles"))[-2]


def test_what_finds_no_free_lane_in_fine_slots_does_not_fit():
    twice = [(chunk, 0, 0, 0, 1) for chunk in (0, 1)]
    made = schedule("mesh:2", "all-reduce", [NO_ROOT, NO_ROOT], twice, slot_cycles=1, made_for=fine(1).made_for)
    assert uses_of(made).fits.tolist() == [True, False]
    assert WRONG in spacetime_picture(made, "made")


def test_a_reduction_unit_is_busy_until_a_sum_has_landed():
    """In fine slots: for as long as it adds."""
    made = fine(1)
    times, columns = fine_times(made), shown_of(made).columns
    lefts = [float(left) * columns / 960 for left in re.findall(r"M([0-9.]+),0h", reductions_picture(made, "made"))]
    first, last = int(times.landing[0]) - times.red, int(times.landing[0])
    column = columns / 240
    assert first - column <= min(lefts) <= first + column
    assert last - 2 * column <= max(lefts) <= last


def test_what_is_shown_of_repeated_iterations():
    shown = shown_of(repeating_broadcast())
    assert (shown.iterations, shown.columns, shown.steady, shown.closing, shown.left_out) == (4, 6, 2, 4, 1)
    assert shown_of(pair_all_reduce()).steady is None


def test_every_use_of_every_iteration_is_a_box():
    made = repeating_broadcast(repeats=2)
    found = hints(spacetime_picture(made, "made"))
    assert len(found) == 2 * made.transfers
    assert "step 3, iteration 1: copy of chunk 0, 2 > 3" in found
    assert {"prologue", "epilogue"} <= set(texts(spacetime_picture(repeating_broadcast(20), "made")))


def test_the_axis_has_units():
    words = texts(spacetime_picture(ring_all_gather(4), "made", " of 7 cycles"))
    assert "a column is a round of 7 cycles" in words
    assert "step" in words


def test_what_a_channel_cannot_carry_is_red():
    crowded = schedule("mesh:2", "all-gather", [0, 0], [(0, 1, 0, 0, 1), (1, 1, 0, 0, 1)])
    assert "more than the channel carries" in texts(spacetime_picture(crowded, "made"))
    assert WRONG in spacetime_picture(crowded, "made")
    assert WRONG not in spacetime_picture(ring_all_gather(4), "made")


def test_many_channels_share_rows_and_the_picture_says_so():
    many = ring_all_gather(MOST_ROWS + 1)
    said = " ".join(texts(spacetime_picture(many, "made")))
    assert f"{MOST_ROWS + 1} channels are too many for a row each" in said
    assert "0-4" in texts(spacetime_picture(many, "made"))
    assert "time in 240 columns; rounds of 7 cycles" in texts(spacetime_picture(many, "made", " of 7 cycles"))


def test_load_is_a_share_of_capacity():
    assert load_of(ring_all_gather(4)).tolist().count(1.0) == 4
    assert sorted(set(load_of(repeating_broadcast()).tolist())) == [0.0, 1.0]
    picture = load_picture(repeating_broadcast(), "made")
    assert "0 > 1: 100.0 % of capacity 1" in hints(picture)
    assert "1 > 0: 0.0 % of capacity 1" in hints(picture)
    assert any("used: 3 of 6" in text for text in texts(picture))


def test_load_of_a_large_network_is_a_histogram():
    rows = [(0, 1, step, step, step + 1) for step in range(1029)]
    large = schedule("mesh:1030", Collective(CollectiveKind.BROADCAST, 0), [0], rows)
    assert any("2,058 channels are too many" in text for text in texts(load_picture(large, "made")))


def test_trees_have_roots_and_say_which_are_drawn():
    made = pair_all_reduce()
    assert roots_of(made, 0) == [0]
    assert any(text.startswith("chunk 0, steps 0 to 1") for text in texts(trees_picture(made, "made")))
    some = trees_picture(ring_all_gather(20), "made", [3])
    assert any("1 of 20 chunks are drawn" in text for text in texts(some))
    with pytest.raises(InputError, match="chunk 20 is not in the schedule; chunks are 0 to 19"):
        trees_picture(ring_all_gather(20), "made", [20])


def test_reductions():
    rows = [(0, 0, 0, 1, 0), (0, 0, 0, 2, 0), (0, 1, 1, 0, 1), (0, 1, 1, 0, 2)]
    picture = reductions_picture(schedule("ring:3", "all-reduce", [-1], rows), "made", busy=0.25)
    assert any("25.0 % of a slot, at most 50 % in all" in text for text in texts(picture))
    with pytest.raises(UnsupportedError, match="no reductions"):
        reductions_picture(ring_all_gather(3), "made")


def test_a_violation_names_its_transfers():
    crowded = schedule("mesh:2", "all-gather", [0, 0], [(0, 1, 0, 0, 1), (1, 1, 0, 0, 1)])
    picture = violation_picture(crowded, "made", "contention", "too much", (0, 1))
    assert "step 0: transfer 1, copy of chunk 1, 0 > 1" in texts(picture)
    assert "contention: too much" in texts(picture)
    assert picture.count(WRONG) > 2


def test_waits():
    picture = waits_picture(parse_topology("ring:4"), {(0, 1): 7, (1, 2): 3}, "made")
    assert "0 > 1: 7 cycles" in texts(picture)
    assert "no message waited" in texts(waits_picture(parse_topology("ring:4"), {}, "made"))


@pytest.mark.parametrize(
    ("witness", "words"),
    [
        ({"part": [0, 0, 1, 1]}, "2 parts, by colour"),
        ({"part": [0, 1, 2, 3]}, "one for each node"),
        ({"set": [0]}, "into the set and out of it"),
        ({"sets": [[0], [1]]}, "between the sets"),
        ({"node": 2}, "into the set and out of it"),
        ({"length": [1, 0, 0, 0, 0, 0, 0, 0]}, "0 (grey, thin) to 1 (dark, thick)"),
        ({"from": 0, "to": 2, "hops": 2}, "every shortest path between them has 2 hops"),
        ({"from": [0], "to": [2], "label": [0, 5, 9, 5]}, "up to 9 (dark)"),
        ({"bound": {"kind": "partition", "witness": {"part": [0, 0, 1, 1]}}}, "2 parts, by colour"),
        ({"from": [0, 1], "to": 2}, "contributions of 2 nodes (black rings) for node 2"),
        ({"to": [1, 2], "late": 7}, "through the red channels, of what leaves the root 7 cycles late"),
        ({}, "its own channels"),
    ],
)
def test_witnesses(witness, words):
    kind = "degree" if "node" in witness else "receptions" if witness.keys() == {"from", "to"} else "any"
    kind = "copies" if "late" in witness else kind
    picture = witness_picture(parse_topology("ring:4"), {"kind": kind, "witness": witness}, "made", "proof")
    assert words in " ".join(texts(picture))
    assert picture == witness_picture(parse_topology("ring:4"), {"kind": kind, "witness": witness}, "made", "proof")


def luminance(colour):
    """The luminance of WCAG 2."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    return float(
        np.dot([part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts], [0.2126, 0.7152, 0.0722])
    )


def contrast(one, other):
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_numbers_can_be_read_on_every_colour():
    grounds = [*CHUNKS, *map(lightened, CHUNKS), *(shade(step / 20) for step in range(21))]
    assert min(contrast(ground, ink_on(ground)) for ground in grounds) > 3


def test_legends_cover_nothing():
    """Rows end above the legend: its texts are below the last box of a channel."""
    root = ElementTree.fromstring(spacetime_picture(ring_all_gather(6), "made"))
    boxes = [
        float(box.get("y")) + float(box.get("height")) for box in root.iter(f"{SVG}rect") if box.find(f"{SVG}title") is not None
    ]
    legend = [float(text.get("y")) for text in root.iter(f"{SVG}text") if re.match("chunk|reduce|copy|a column", text.text or "")]
    assert max(boxes) < min(legend) - 8
