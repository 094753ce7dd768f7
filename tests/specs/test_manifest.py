"""The manifest and the files beside it agree, both ways, and leave nothing open."""

import re
from itertools import pairwise

import pytest

from certree.verify.models import TIME_LIMITS, load_manifest, specs_folder

MODELS = load_manifest()


def test_every_configuration_is_a_model_and_every_model_a_configuration():
    assert sorted(m["name"] for m in MODELS) == sorted(path.stem for path in specs_folder().glob("*.cfg"))


def test_every_module_is_used():
    used = {m["module"] for m in MODELS}
    modules = {path.stem: path.read_text() for path in specs_folder().glob("*.tla")}
    assert used <= modules.keys()
    while True:
        found = {
            name for module in used for name in modules if re.search(rf"\b(EXTENDS|INSTANCE)\b[^\n]*\b{name}\b", modules[module])
        }
        if found <= used:
            break
        used |= found
    assert used == modules.keys()


@pytest.mark.parametrize("model", MODELS, ids=lambda m: m["name"])
def test_entry(model):
    assert model["expected"] in ("success", "safety", "liveness", "deadlock")
    assert model["mode"] == "exhaustive"
    assert model["runtime"] in TIME_LIMITS
    assert 1 <= model["distinct_states"] <= model["total_states"]
    assert (model["violates"] is not None) == (model["expected"] == "safety")
    text = (specs_folder() / f"{model['name']}.cfg").read_text()
    assert text.startswith("\\* Must fail: ") == (model["expected"] != "success")


def test_every_property_of_a_run_is_broken_by_some_model():
    checked = re.search(r"^INVARIANTS (.*)$", (specs_folder() / "MCNILockstepRing.cfg").read_text(), re.MULTILINE)
    assert checked
    assert set(checked[1].split()) | {"NeverBreaksThePromise"} <= {m["violates"] for m in MODELS} - {None}
    assert {m["expected"] for m in MODELS} >= {"liveness", "deadlock"}


def test_definitions_constants_and_variables_state_their_purpose():
    for path in specs_folder().glob("*.tla"):
        lines = path.read_text().splitlines()
        for above, line in pairwise(lines):
            named = re.match(r"\w+(\(.*\))? ==", line)
            assert not named or above.strip(), f"{path.name}: {line} has no line of purpose"
