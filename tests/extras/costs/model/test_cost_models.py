"""Cost models: every one reads its file, says what is wrong in it, and has a preset or a file here."""

import re
from fractions import Fraction
from importlib import resources
from pathlib import Path

import pytest

import certree.api as ct
from certree.extras.costs.model.cost_model import COST_MODELS, COST_PARAMETERS, load_models, load_parameters, model_name
from certree.extras.costs.model.formulas.ace import AceEndpoint
from certree.extras.costs.model.formulas.alpha_beta_gamma import AlphaBetaGamma
from certree.extras.costs.model.formulas.genmodel import load_genmodel
from certree.extras.costs.model.formulas.loggp import LogGP
from certree.extras.costs.model.formulas.netreduce import Machines
from certree.models.common.errors import InputError

FILES = {
    "alpha-beta-gamma": {"alpha_seconds": "1e-5", "beta_seconds_per_byte": "8e-11", "gamma_seconds_per_byte": "1.5e-10"},
    "loggp": {
        "latency_seconds": "6e-6",
        "overhead_seconds": "2e-6",
        "gap_seconds": "3e-6",
        "gap_seconds_per_byte": "1e-10",
    },
    "nccl": {"launch_seconds": "8.4e-6", "step_seconds": "3.4e-6", "link_bytes_per_second": "20.6e9"},
    "netreduce": {"alpha_seconds": "1e-6", "inside_bytes_per_second": "150e9", "between_bytes_per_second": "12.5e9"},
}


def text_of(model: str, **changes: str | int | None) -> str:
    """A parameter file; a field that is None is left out."""
    values = {**FILES[model], **changes}
    lines = [f'format = "certree-{model}"', "version = 1", 'name = "mine"']
    lines += [f"{key} = {value!r}" for key, value in values.items() if value is not None]
    return "\n".join(lines)


def written(folder: Path, text: str) -> str:
    path = folder / "mine.toml"
    path.write_text(text)
    return str(path)


def test_every_model_is_found_by_its_format(tmp_path: Path) -> None:
    for model in FILES:
        loaded = load_parameters(written(tmp_path, text_of(model)))
        assert type(loaded) is COST_MODELS[model]
        assert loaded.name == "mine"
    assert isinstance(load_parameters(written(tmp_path, text_of("loggp"))), LogGP)
    assert isinstance(load_parameters(written(tmp_path, text_of("alpha-beta-gamma"))), AlphaBetaGamma)


@pytest.mark.parametrize("model", list(load_models()))
def test_every_model_refuses_fields_that_it_does_not_know(tmp_path: Path, model: str) -> None:
    assert load_models().explain(model)
    with pytest.raises(InputError, match="colour"):
        load_parameters(written(tmp_path, f'format = "certree-{model}"\nversion = 1\nname = "mine"\ncolour = "red"\n'))


@pytest.mark.parametrize("name", COST_PARAMETERS.names())
def test_every_preset_is_of_a_model(name: str) -> None:
    assert model_name(load_parameters(name)) in COST_MODELS


def test_presets_are_what_the_papers_say() -> None:
    machines, endpoint = load_parameters("netreduce"), load_parameters("ace")
    assert isinstance(machines, Machines)
    assert isinstance(endpoint, AceEndpoint)
    assert machines.ratio == 12
    # "in an ideal case we need 4": 2 bytes of load for each byte over four links of 25 GB/s, 64 bytes a core and cycle
    assert -(-2 * 4 * endpoint.link_bytes_per_second // endpoint.core_read_bytes_per_second) == endpoint.cores == 4


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (text_of("loggp", gap_seconds=None), "gap_seconds is missing; known: name, latency_seconds, overhead_seconds, gap_"),
        (text_of("loggp", gap_seconds=None, gap_ms="3"), "gap_seconds is missing; unknown field 'gap_ms'; known: "),
        (text_of("loggp", latency_seconds="-6e-6"), "is '-6e-6'; expected a string such as \"6.4e-9\" or \"1/20\", from 0"),
        (text_of("loggp", latency_seconds="6 us"), "latency_seconds is '6 us'; expected a string"),
        (text_of("loggp", latency_seconds="6e-6s"), "latency_seconds is '6e-6s'; expected a string"),
        (text_of("loggp", latency_seconds=6), "latency_seconds is 6; expected a string"),
        (text_of("netreduce", inside_bytes_per_second="0"), 'is \'0\'; expected a string such as "6.4e-9" or "1/20", above 0'),
        (text_of("netreduce").replace("-netreduce", "-x"), "format is 'certree-x'; the cost models have \"certree-ace\""),
        (text_of("netreduce").replace("certree-netreduce", "netreduce"), "format is 'netreduce'; the cost models have"),
        (text_of("netreduce").replace("version = 1", "version = 2"), "version 2 cannot be read"),
        (text_of("netreduce").replace("'mine'", "3").replace('"mine"', "3"), "name is 3; expected a string"),
        ("format = [", "is not TOML"),
    ],
)  # fmt: skip
def test_wrong_files_are_refused(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(InputError, match=re.escape(reason)):
        load_parameters(written(tmp_path, text))


def test_wrong_whole_numbers_are_refused(tmp_path: Path) -> None:
    text = (resources.files("certree.extras.costs.model") / "presets" / "ace.toml").read_text()
    for wrong in ("0", "-1", "4.0", '"4"', "true"):
        with pytest.raises(InputError, match=r"cores is .*; allowed: whole numbers from 1"):
            load_parameters(written(tmp_path, text.replace("cores = 4", f"cores = {wrong}")))


def test_another_models_parameters_are_none_of_genmodel() -> None:
    with pytest.raises(InputError, match="netreduce has parameters of another cost model; expected those of GenModel"):
        load_genmodel("netreduce")


def test_levels_that_are_not_known_are_asked_for_where_they_are_used(tmp_path: Path) -> None:
    text = (resources.files("certree.extras.costs.model") / "presets" / "gentree.toml").read_text()
    alone = load_genmodel(written(tmp_path, text[: text.index("# Links between switches")].replace('"gentree"', '"mine"')))
    assert alone.middle.incast_threshold == 9
    with pytest.raises(
        InputError, match=re.escape("parameters 'mine' have no table [root], for the links between switches of this")
    ):
        _ = alone.root
    with pytest.raises(InputError, match=re.escape("have no table [cross], for the links between the top switches of two trees")):
        _ = alone.cross
    assert alone.middle.flow_seconds(10) == Fraction("6.4e-9") + Fraction("1.22e-10")


def test_a_ring_of_nccl():
    """A launch, 2 (n - 1) steps, and 2 (n - 1) / n of the size over 360 GB/s, its 6 rings of 60 on 18 NVLinks, or over 141 GB/s."""
    for name, launch, step, link in (
        ("simple", "8.4e-6", "3.4e-6", 360 * 10**9),
        ("ll", "6.6e-6", "0.6e-6", 141 * 10**9),
    ):
        found = ct.cost("h100", size="64MiB", parameters=f"nccl-h100-{name}", methods=["ring:channels=18"]).cells[0]
        assert Fraction(found["seconds"]) == Fraction(launch) + 14 * Fraction(step) + Fraction(14, 8) * 2**26 / link
