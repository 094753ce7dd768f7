"""Reports on joint schedules: what they say, that bytes repeat, that violations are shown, and what is refused."""

import re

import pytest

import certree.api as ct
from certree.extras.joint.model.joint_file import joint_from_document
from certree.extras.joint.model.joint_uses import link_uses_of
from certree.models.common.errors import InputError
from tests.extras.joint.small_joint import document, small


def written(folder, source, **options):
    path = folder / "joint.html"
    ct.report(source, path, force=True, **options)
    return path.read_text()


def test_sections(tmp_path):
    ct.save_joint(small(), tmp_path / "joint.json")
    page = written(tmp_path, tmp_path / "joint.json")
    assert page == written(tmp_path, tmp_path / "joint.json")
    for part in small().parts:
        assert f'<th scope="row">{part.name}</th><td>{part.entry.collective.words}</td>' in page
    for words in ("after sum", "not before cycle 100", "equal to the closed form", "right in every collective", "joint.json:NAME"):
        assert words in page, words
    assert f"{small().cycles:,} cycles" in page
    shared = ((link_uses_of(small()).busy(small()) > 0).sum(axis=1) > 1).sum()
    assert f"{shared} channels of " in page
    assert not re.search(r'(src|href)="(?!data:)', page)


def test_without_a_run(tmp_path):
    page = written(tmp_path, small(), simulate=False, title="Both")
    assert "a simulation was not asked for" in page
    assert "<h1>Both</h1>" in page
    assert "certree verify JOINT.json" in page


def test_violations_are_shown(tmp_path):
    changed = document()
    next(one for one in changed["collectives"] if one["name"] == "more")["begin"] = 100
    page = written(tmp_path, joint_from_document(changed, "joint.json"))
    assert "<strong>joint-link</strong>" in page
    assert "Lower bounds" not in page


def test_what_does_not_apply_is_refused(tmp_path):
    with pytest.raises(InputError, match="a joint schedule has a report of its own"):
        written(tmp_path, [small(), small()])
    for option in ({"size": 1024}, {"machine": "multitree"}, {"collective": "all-reduce"}, {"model_check": True}):
        with pytest.raises(InputError, match=f"^{next(iter(option))}: not in a report on a joint schedule"):
            written(tmp_path, small(), **option)
    assert not (tmp_path / "joint.html").exists()
