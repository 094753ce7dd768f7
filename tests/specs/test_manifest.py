"""The manifest and the files beside it agree, both ways, and leave nothing open."""

import re
from itertools import pairwise

import pytest

from certree.verify.models import TIME_LIMITS, load_manifest, specs_folder

MODELS = load_manifest()


def test_every_configuration_is_a_model_and_every_model_a_configuration():
    assert sorted(m["name"] for m in MODELS) == sorted(path.stem for path in (specs_folder() / "models").glob("*.cfg"))


def test_every_module_is_used():
    used = {m["module"] for m in MODELS} | {"TraceNILockstep"}  # which `model-check --trace` gives its constants
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
    text = (specs_folder() / "models" / f"{model['name']}.cfg").read_text()
    assert text.startswith("\\* Must fail: ") == (model["expected"] != "success")


# TLC names what a property is defined as, where that is another name.
TOLD_AS = {"BeginsWithThePromise": "Collective!Init"}


def properties_of(name):
    lines = (specs_folder() / "models" / f"{name}.cfg").read_text().splitlines()
    return {word for line in lines if line.startswith(("INVARIANTS ", "PROPERTIES ")) for word in line.split()[1:]}


@pytest.mark.parametrize(
    "modules",
    [
        ("MCAllReduce",),
        ("MCSchedule",),
        ("MCNILockstep", "MCNILockstepFaults"),
        ("MCSubPacketFlow",),
        ("MCInNetworkReduce",),
        ("MCAceEngine",),
    ],
    ids=["AllReduce", "Schedule", "NILockstep", "SubPacketFlow", "InNetworkReduce", "AceEngine"],
)
def test_every_property_that_holds_somewhere_is_broken_by_some_model(modules):
    """Safety: by name. Liveness, of which TLC tells no name: by the only property of a model."""
    models = [m for m in MODELS if m["module"] in modules]
    held = {word for m in models if m["expected"] == "success" for word in properties_of(m["name"])}
    broken = {m["violates"] for m in models}
    for model in models:
        if model["expected"] == "liveness":
            (only,) = properties_of(model["name"])
            broken.add(only)
    assert {TOLD_AS.get(word, word) for word in held} <= broken


def test_a_deadlock_is_found():
    assert "deadlock" in {m["expected"] for m in MODELS}


def test_definitions_constants_and_variables_state_their_purpose():
    for path in specs_folder().glob("*.tla"):
        lines = path.read_text().splitlines()
        for above, line in pairwise(lines):
            named = re.match(r"\w+(\(.*\))? ==", line)
            assert not named or above.strip(), f"{path.name}: {line} has no line of purpose"
