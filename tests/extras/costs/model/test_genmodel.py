"""GenModel's parameters and arithmetic; its profiles are compared with schedules in tests/synth."""

import re
from fractions import Fraction
from importlib import resources
from pathlib import Path

import pytest

from certree.extras.costs.model.formulas.genmodel import load_genmodel
from certree.extras.costs.model.profile import factored_profile, pairwise_profile
from certree.models.common.errors import InputError

MODEL = load_genmodel("gentree")
NAME = "beta_seconds_per_float"
BETA = f'{NAME} = "6.40e-9"'
TEXT = (resources.files("certree.extras.costs.model") / "presets" / "gentree.toml").read_text()


def test_the_preset_is_table_5() -> None:
    assert MODEL.middle.alpha_seconds == Fraction("0.00658")
    assert MODEL.root.beta_seconds_per_float * 10 == MODEL.middle.beta_seconds_per_float == Fraction(64, 10**10)
    assert MODEL.cross.epsilon_seconds_per_float == Fraction(6, 10**11)
    assert MODEL.server.delta_seconds_per_float == Fraction(187, 10**12)
    assert {level.incast_threshold for level in (MODEL.middle, MODEL.root, MODEL.cross)} == {9}


def test_co_located_servers_cost_table_2() -> None:
    """2 alpha + 2(N-1)S/N beta + (N-1)S/N gamma + (N+1)S/N delta + 2(N-1)S/N max(N - w_t, 0) epsilon."""
    for nodes in (2, 9, 10, 24):
        level, server, floats, alpha = MODEL.middle, MODEL.server, Fraction(10**7), Fraction(1, 50)
        share = Fraction(nodes - 1, nodes) * floats
        expected = 2 * alpha + 2 * share * level.beta_seconds_per_float + share * server.gamma_seconds_per_float
        expected += Fraction(nodes + 1, nodes) * floats * server.delta_seconds_per_float
        expected += 2 * share * max(nodes - 9, 0) * level.epsilon_seconds_per_float
        assert factored_profile((nodes,)).seconds(level, server, alpha, floats) == expected


def test_a_ring_costs_table_2() -> None:
    level, server, floats, alpha = MODEL.middle, MODEL.server, Fraction(10**7), Fraction(1, 50)
    share = Fraction(23, 24) * floats
    expected = 46 * alpha + 2 * share * level.beta_seconds_per_float + share * server.gamma_seconds_per_float
    expected += 3 * share * server.delta_seconds_per_float
    assert pairwise_profile(24, 46).seconds(level, server, alpha, floats) == expected


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(TEXT.replace("incast_threshold = 9", "incast_threshold = 4").replace('name = "gentree"', 'name = "mine"'))
    assert (load_genmodel(str(path)).name, load_genmodel(str(path)).root.incast_threshold) == ("mine", 4)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (BETA, f'{NAME} = "-1"', f"middle: {NAME} is '-1'; expected a str"),
        (BETA, f"{NAME} = 6.4e-9", f"{NAME} is 6.4e-09; expected a string"),
        (BETA, f'{NAME} = "1e99999"', "expected a string such as"),
        (BETA, "", f"middle: {NAME} is missing; known: alpha_seconds, "),
        (BETA, 'beta_ms = "6.40e-9"', f"middle: {NAME} is missing; unknown field 'beta_ms'; known: "),
        ("incast_threshold = 9", "incast_threshold = -1", "middle: incast_threshold is -1; allowed: whole numbers from 2"),
        ("incast_threshold = 9", "incast_threshold = 1", "incast_threshold is 1; allowed: whole numbers from 2"),
        ("incast_threshold = 9", "incast_threshold = true", "incast_threshold is True; allowed: whole numbers from 2"),
        ("[cross]", "[other]", "unknown field 'other'; known: name, server, middle, root, cross"),
        ("[middle]", "[cross2]", "middle is missing; unknown field 'cross2'"),
        ('format = "certree-genmodel"', 'format = "certree-machine"', "format is 'certree-machine'; the cost models have"),
        ('name = "gentree"', "name = 3", "name is 3; expected a string"),
        ("version = 1", "version = 2", "version 2 cannot be read; expected 1"),
        ("[server]", "[server", "is not TOML"),
    ],
)
def test_wrong_files_are_refused(tmp_path: Path, old: str, new: str, reason: str) -> None:
    path = tmp_path / "wrong.toml"
    assert old in TEXT
    path.write_text(TEXT.replace(old, new, 1))
    with pytest.raises(InputError, match=re.escape(reason)):
        load_genmodel(str(path))


def test_missing_files_and_names_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"missing\.toml"):
        load_genmodel(str(tmp_path / "missing.toml"))
    with pytest.raises(InputError, match="unknown cost parameters"):
        load_genmodel("other")
