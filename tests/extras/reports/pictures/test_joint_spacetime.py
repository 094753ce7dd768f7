"""Pictures of joint schedules: every message in the colour of its collective, meetings in red, shares where there is too much."""

import re
from xml.etree import ElementTree

import pytest

import certree.api as ct
from certree.extras.joint.model.joint_file import joint_from_document
from certree.extras.joint.model.joint_uses import link_uses_of
from certree.extras.reports.pictures.colours import WRONG, of_chunk
from certree.extras.reports.pictures.schedules import joint_spacetime
from certree.extras.reports.pictures.schedules.joint_spacetime import joint_picture
from certree.models.common.errors import InputError
from tests.extras.joint.small_joint import document, small


def test_a_box_for_each_message_on_each_channel():
    svg = joint_picture(small())
    assert svg == joint_picture(small())
    ElementTree.fromstring(svg)
    uses = link_uses_of(small())
    hints = re.findall(r"<title>(\w+): chunk", svg)
    assert len(hints) == len(uses.row)
    for number, part in enumerate(small().parts):
        assert hints.count(part.name) == (uses.part == number).sum() > 0
        assert svg.count(f'fill="{of_chunk(number)}"') == hints.count(part.name) + 1  # the legend
    assert WRONG not in svg
    assert f"{small().cycles:,} cycles" in svg


def test_what_finds_no_lane_is_framed():
    changed = document()
    next(one for one in changed["collectives"] if one["name"] == "more")["begin"] = 100
    assert WRONG in joint_picture(joint_from_document(changed, "joint.json"))


def test_shares_where_there_is_too_much(monkeypatch):
    monkeypatch.setattr(joint_spacetime, "MOST_BOXES", 10)
    svg = joint_picture(small())
    assert "are too many: shares of the capacity in use" in svg
    assert "<title>" not in svg
    wide = [float(one) for one in re.findall(r"M[0-9.]+,[0-9.-]+h[0-9.]+v([0-9.]+)", svg)]
    assert 0 < max(wide) <= 12.1  # no channel is more than full


def test_views_are_for_one_collective(tmp_path):
    with pytest.raises(InputError, match="view 'load' is for one collective, as FILE:NAME"):
        ct.draw(small(), tmp_path / "load.svg", view="load")
    ct.save_joint(small(), tmp_path / "joint.json")
    ct.draw(tmp_path / "joint.json", tmp_path / "of-file.svg", title="together")
    ct.draw(small(), tmp_path / "of-object.svg", title="together")
    assert (tmp_path / "of-file.svg").read_text() == (tmp_path / "of-object.svg").read_text()
    ct.draw(small(), tmp_path / "again.svg", topology="ring:4")
    for options, words in (
        ({"topology": "ring:5"}, "the joint schedule is for ring:4.* which is not ring:5"),
        ({"collective": "all-reduce"}, "collective: not for a joint schedule"),
        ({"run": "paced"}, "run: not for a joint schedule"),
    ):
        with pytest.raises(InputError, match=words):
            ct.draw(small(), tmp_path / "wrong.svg", **options)
    assert not (tmp_path / "wrong.svg").exists()
    ct.draw(f"{tmp_path / 'joint.json'}:sum", tmp_path / "load.svg", view="load")
