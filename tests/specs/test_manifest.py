"""The manifest and the files beside it agree, both ways, and leave nothing open."""

import re
from itertools import pairwise

import pytest

from certree.verify.tla.model_list import TIME_LIMITS, load_manifest, specs_folder

MODELS = load_manifest()
TABLES = load_manifest("tables")
MUTANTS = [m for m in MODELS if m.get("mutation")]
KINDS = {
    "guard dropped", "off by one", "lost", "doubled", "bit for counter", "wrong parent", "wrong transfer", "dependency dropped",
    "fairness dropped", "wrong channel", "wrong kind", "wrong place", "counter for bit", "wrong sum", "wrong estimate", "wrong log",
    "wrong order",
}  # fmt: skip
# Guards without which everything is as before, and why; specs/README.md lists them too.
NEEDLESS_GUARDS = {
    "AllReduce!Finish!OnlyOnce": "to finish again changes nothing",
    "AllReduce!Finish!RightSum": "is what the step does",
    "NILockstep!CanFire!HasLinks": "without a link there is no time of arrival; LinksExist names the state before",
    "NILockstep!CanAdvance!IsPaced": "a slotted NI does not look at its timestep counter",
}


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
    assert model["runtime"] in TIME_LIMITS
    assert (model["violates"] is not None) == (model["expected"] == "safety")
    assert "mutation" not in model or (model["mutation"] is not None) == (model["expected"] != "success")
    assert_counted(model)
    text = (specs_folder() / "models" / f"{model['name']}.cfg").read_text()
    assert text.startswith("\\* Must fail: ") == (model["expected"] != "success")
    if model["mode"] == "simulation":
        assert {name: type(value) for name, value in model["simulation"].items()} == {"runs": int, "depth": int, "seed": int}
        assert not properties_of(model["name"]) & LIVENESS, "random runs end somewhere; what they would do then is not known"
    if "SYMMETRY" in text:
        assert not properties_of(model["name"]) & LIVENESS, "a run may permute on its way"


@pytest.mark.parametrize("entry", TABLES, ids=lambda entry: entry["name"])
def test_tables_entry(entry):
    assert entry["name"] == f"{entry['topology']}/{entry['method']}"
    assert (entry["expected"], entry["runtime"] in TIME_LIMITS, type(entry["seed"])) == ("success", True, int)
    assert_counted(entry)


def assert_counted(entry):
    if entry["mode"] == "simulation":
        assert (entry["distinct_states"], entry["total_states"] > 0) == (None, True)
    else:
        assert entry["mode"] == "exhaustive"
        assert 1 <= entry["distinct_states"] <= entry["total_states"]


def test_names_are_unique_and_the_networks_of_the_tables_are_small_models():
    names = [entry["name"] for entry in MODELS + TABLES]
    assert len(set(names)) == len(names)
    networks = {"ring:4", "mesh:2x2", "mesh:2x3", "mesh:3x3", "torus:3x3", "hypercube:3", "switch:4"}
    assert networks <= {entry["topology"] for entry in TABLES if entry["runtime"] == "small"}


def guards():
    """The labelled conjuncts of the steps of the truth modules, as module!definition!label."""
    found = set()
    for name in ("AllReduce", "Schedule", "NILockstep", "SubPacketFlow"):
        definition = ""
        for line in (specs_folder() / f"{name}.tla").read_text().splitlines():
            if opened := re.match(r"(\w+)(\(.*\))? ==", line):
                definition = opened[1]
            if (labelled := re.search(r"/\\ (\w+)::", line)) and definition != "TypeOK":
                found.add(f"{name}!{definition}!{labelled[1]}")
    return found


def test_every_guard_has_a_mutant_without_it_and_every_such_mutant_a_guard():
    mutated = {m["mutation"]["of"] for m in MUTANTS}
    assert guards() - mutated == set(NEEDLESS_GUARDS)
    dropped = {m["mutation"]["of"] for m in MUTANTS if m["mutation"]["kind"] == "guard dropped"}
    # modules whose guards are definitions with a name
    assert dropped - guards() == {
        "TraceNILockstep!LoggedTick", "TraceInNetworkReduce!IsUnderWay",
        "InNetworkReduce!IsNew", "InNetworkReduce!Same", "InNetworkReduce!MaySend",
        "AceEngine!Fits", "AceEngine!IsFirst", "AceEngine!Turn", "AceEngine!HasRoom",
    }  # fmt: skip
    readme = (specs_folder() / "README.md").read_text()
    assert all(f"`{place.split('!', 1)[1]}`" in readme for place in NEEDLESS_GUARDS)


def test_mutations_are_of_known_kinds_and_of_what_there_is():
    assert {m["mutation"]["kind"] for m in MUTANTS} == KINDS
    for mutation in (m["mutation"] for m in MUTANTS):
        module, definition = mutation["of"].split("!")[:2]
        text = "".join((specs_folder() / f"{name}.tla").read_text() for name in (module, "NITables", "Schedule"))
        assert re.search(rf"^\s*{definition}\b", text, re.MULTILINE), mutation


# TLC names what a property is defined as, where that is another name.
TOLD_AS = {"BeginsWithThePromise": "Collective!Init"}


def properties_of(name):
    lines = (specs_folder() / "models" / f"{name}.cfg").read_text().splitlines()
    return {word for line in lines if line.startswith(("INVARIANTS ", "PROPERTIES ")) for word in line.split()[1:]}


LIVENESS = {
    "Ends", "EveryRunEnds", "EveryWormArrives", "EveryResultArrives", "EveryChunkEnds", "KeepsThePromise", "IsSchedule"
}  # fmt: skip


@pytest.mark.parametrize(
    "modules",
    [
        ("MCAllReduce",),
        ("MCSchedule", "MCScheduleApart"),
        ("MCNILockstep", "MCNILockstepFaults"),
        ("MCTraceNILockstep",),
        ("MCSubPacketFlow",),
        ("MCInNetworkReduce",),
        ("MCTraceInNetworkReduce",),
        ("MCAceEngine",),
    ],
    ids=[
        "AllReduce",
        "Schedule",
        "NILockstep",
        "TraceNILockstep",
        "SubPacketFlow",
        "InNetworkReduce",
        "TraceInNetworkReduce",
        "AceEngine",
    ],
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
