"""The time-space picture: a box for each use of a link, where and when it is used."""

from xml.etree import ElementTree

import pytest

from certree.extras.reports.pictures.timetable import ROW, UNIT, timetable_picture
from certree.models.common.errors import UnsupportedError
from tests.models.examples import pair_all_reduce, ring_all_gather, schedule

SVG = "{http://www.w3.org/2000/svg}"


def boxes(made):
    root = ElementTree.fromstring(timetable_picture(made, "made"))
    hinted = [(shape, shape.find(f"{SVG}title")) for shape in root.findall(f"{SVG}rect")]
    return [
        (hint.text, float(shape.get("x")), float(shape.get("y")), shape.get("stroke")) for shape, hint in hinted if hint is not None
    ]


def test_time_runs_right_and_every_link_has_a_row():
    found = boxes(pair_all_reduce())
    assert [(text, x, y) for text, x, y, _ in found] == [
        ("step 1: copy of chunk 0, 0 > 1", UNIT, 2.0),
        ("step 0: reduce of chunk 0, 1 > 0", 0.0, ROW + 6),
    ]


def test_every_transfer_is_drawn_once_for_each_link():
    made = ring_all_gather(5)
    assert len(boxes(made)) == made.transfers
    assert timetable_picture(made, "x") == timetable_picture(ring_all_gather(5), "x")


def test_what_a_link_cannot_carry_is_framed_red():
    crowded = schedule("mesh:2", "all-gather", [0, 0], [(0, 1, 0, 0, 1), (1, 1, 0, 0, 1)])
    texts = [(text.endswith("more than the link carries"), stroke == "#e00000") for text, _, _, stroke in boxes(crowded)]
    assert texts == [(False, False), (True, True)]


def test_a_wide_link_has_lanes():
    wide = schedule("mesh:2,capacity=2", "all-gather", [0, 0], [(0, 1, 0, 0, 1), (1, 1, 0, 0, 1)])
    assert [(x, y) for _, x, y, _ in boxes(wide)] == [(0.0, 2.0), (0.0, 2 + ROW)]


def test_too_many_links():
    with pytest.raises(UnsupportedError, match="over 161 links; allowed"):
        timetable_picture(ring_all_gather(161), "many")
