"""`specs/models.toml`: every entry fits its module; entries are read as the file says, and wrong ones refused."""

import re
from dataclasses import replace
from functools import cache
from itertools import pairwise
from types import SimpleNamespace

import pytest

from certree.extras.tla.check import model_runs as runs
from certree.extras.tla.check.model_file import listed, load_models
from certree.extras.tla.check.model_runs import Configuration, specs_folder
from certree.extras.tla.check.models import configuration_file, model_check
from certree.extras.tla.check.tlc import Result
from certree.models.common.errors import InputError
from tests.cli.running import assert_bad_input, certree
from tools.specs import mutants

MODELS = list(listed().models.values())
TABLES = list(listed().tables.values())
MUTATED = [model for model in MODELS if model.mutation]
TEXTS = {path.stem: mutants.without_comments(path.read_text()) for path in specs_folder().glob("*.tla")}
each_model = pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
# Guards without which everything is as before, and why; specs/README.md lists them too.
NEEDLESS_GUARDS = {
    "AllReduce!Finish!OnlyOnce": "to finish again changes nothing",
    "AllReduce!Finish!RightSum": "is what the step does",
    "NILockstep!CanFire!HasLinks": "without a link there is no time of arrival; LinksExist names the state before",
}


@cache
def extended(module):
    """A module and all that it extends."""
    above = {name for line in re.findall(r"^EXTENDS (.*)$", TEXTS[module], re.MULTILINE) for name in re.findall(r"\w+", line)}
    return frozenset({module}).union(*(extended(name) for name in above & TEXTS.keys()))


def place_of(model, name):
    """The module of a model that defines a name, and the name; those that it has instances of come last."""
    return defined(extended(model.module), name) or defined(mutants.modules_of([model]), name)


@cache
def defined(modules, name):
    """The one of these modules that defines a name, and the name."""
    pattern = re.compile(rf"^\s*(LOCAL )?{name}(\(.*?\))? ==", re.MULTILINE)
    found = [module for module in modules if pattern.search(TEXTS[module])]
    assert len(found) <= 1, f"{name} is defined in {found}"
    return f"{found[0]}!{name}" if found else None


@cache
def constants_of(module):
    """The constants that a module declares."""
    declared = re.findall(r"^CONSTANTS?\s+(\w+(?:\(.*?\))?(?:\s*,\s*\w+(?:\(.*?\))?)*)", TEXTS[module], re.MULTILINE)
    return frozenset(re.findall(r"\b[A-Za-z]\w*", "".join(declared)))


def asked(model):
    return {*model.configuration.invariants, *model.configuration.properties}


def of_runs(model):
    """The properties of a model that are about whole runs: what breaks them is no single state or step."""
    return {name for name in model.configuration.properties if mutants.is_of_runs(model, name)}


@each_model
def test_constants_and_properties_are_those_of_the_module(model):
    declared = frozenset().union(*(constants_of(module) for module in extended(model.module)))
    assert declared <= model.configuration.constants.keys()
    for name, value in model.configuration.constants.items():
        assert name in declared or (value.startswith("<-") and place_of(model, name)), name
        assert not value.startswith("<-") or place_of(model, value.removeprefix("<- ")), value
    told = model.configuration
    assert all(place_of(model, name) for name in (told.spec, *asked(model), *f"{told.symmetry} {told.constraint}".split()))


@each_model
def test_what_must_fail_says_what_is_broken_and_why(model):
    expected = model.expected
    assert (expected.breaks != "") == (expected.result in (Result.SAFETY, Result.LIVENESS))
    assert expected.result is Result.DEADLOCK or {expected.breaks} - {""} <= asked(model)
    # TLC tells no name of a property of whole runs: it is the only one
    assert expected.result is not Result.LIVENESS or asked(model) == of_runs(model) == {expected.breaks}
    # what TLC calls a property is what that is defined as; of an instance of a module that extends others, its place in these
    assert (
        expected.told_as in ("", expected.breaks)
        or expected.told_as.startswith("line ")
        or (f"\n{expected.breaks} == {expected.told_as}\n" in TEXTS[place_of(model, expected.breaks).split("!")[0]])
    )
    family = model.module.removesuffix("Faults")
    assert (model.mutation is not None) == (expected.result is not Result.SUCCESS and family in mutated_families())


@cache
def mutated_families():
    return {model.module.removesuffix("Faults") for model in MUTATED}


@each_model
def test_whole_runs_are_not_asked_about_where_they_are_not_known(model):
    if model.simulation is not None:
        assert not of_runs(model), "random runs end somewhere; what they would do then is not known"
    if model.configuration.symmetry:
        assert not of_runs(model), "a run may permute on its route"


@pytest.mark.parametrize("entry", [*MODELS, *TABLES], ids=lambda entry: entry.name)
def test_states_are_counted(entry):
    assert entry.expected.total_states > 0
    assert entry.expected.mode == "simulation" or 1 <= entry.expected.distinct_states <= entry.expected.total_states


def test_models_have_unique_names_and_small_networks():
    names = [entry.name for entry in [*MODELS, *TABLES]]
    assert len(set(names)) == len(names)
    networks = {"ring:4", "mesh:2x2", "mesh:2x3", "mesh:3x3", "torus:3x3", "hypercube:3", "switch:4"}
    assert networks <= {entry.topology for entry in TABLES if entry.runtime == "small"}
    assert {entry.expected.result for entry in TABLES} == {Result.SUCCESS}


def test_every_module_is_used_and_every_base():
    traced = {"TraceNILockstep"}  # which `model-check trace` gives its constants
    used = mutants.modules_of(MODELS) | {name for module in traced for name in extended(module)}
    assert used == TEXTS.keys()
    bases = re.findall(r"^\[modules\.(\w+)\]$", (specs_folder() / "models.toml").read_text(), re.MULTILINE)
    assert set(bases) <= {model.module for model in MODELS}


def guards():
    """The labelled conjuncts of the steps of the truth modules, as module!definition!label."""
    found = set()
    for name in (name for name in TEXTS if not name.startswith("MC")):
        definition = ""
        for line in TEXTS[name].splitlines():
            if opened := re.match(r"(\w+)(\(.*\))? ==", line):
                definition = opened[1]
            if (labelled := re.search(r"/\\ (\w+)::", line)) and definition != "TypeOK":
                found.add(f"{name}!{definition}!{labelled[1]}")
    return found


def test_guards_and_mutants_without_them_match():
    mutated = {model.mutation.of for model in MUTATED}
    assert guards() - mutated == set(NEEDLESS_GUARDS)
    dropped = {model.mutation.of for model in MUTATED if model.mutation.kind == "guard dropped"}
    # in modules without labels the guards are definitions with a name
    with_labels = {guard.split("!")[0] for guard in guards()}
    assert {place for place in dropped if place.split("!")[0] in with_labels} <= guards()
    assert all(place.count("!") == 1 for place in dropped - guards())
    readme = (specs_folder() / "README.md").read_text()
    assert all(f"`{place.split('!', 1)[1]}`" in readme for place in NEEDLESS_GUARDS)


@pytest.mark.parametrize("model", MUTATED, ids=lambda model: model.name)
def test_mutations_are_of_what_there_is(model):
    module, definition = model.mutation.of.split("!")[:2]
    text = "".join(TEXTS[name] for name in (module, "NITables", "Schedule"))
    assert re.search(rf"^\s*{definition}\b", text, re.MULTILINE), model.mutation


def test_every_kind_of_mutation_is_used():
    assert {model.mutation.kind for model in MUTATED} == set(listed().kinds)


def test_every_property_that_holds_somewhere_is_broken_by_some_model():
    """A property is known by its place of definition, for modules have properties of the same name."""
    held = {place_of(model, name) for model in MODELS if model.expected.result is Result.SUCCESS for name in asked(model)}
    broken = {place_of(model, model.expected.breaks) for model in MODELS if model.expected.breaks}
    assert held <= broken
    assert Result.DEADLOCK in {model.expected.result for model in MODELS}


def test_definitions_constants_and_variables_state_their_purpose():
    for path in specs_folder().glob("*.tla"):
        lines = path.read_text().splitlines()
        for above, line in pairwise(lines):
            named = re.match(r"\w+(\(.*\))? ==", line)
            assert not named or above.strip(), f"{path.name}: {line} has no line of purpose"


LIGHT = """---- MODULE Light ----
EXTENDS Integers
CONSTANT Phases
VARIABLE phase
TypeOK == phase \\in 0..Phases - 1
Next == phase' = (phase + 1) % Phases
Skips == phase' = (phase + 2) % Phases
Spec == phase = 0 /\\ [][Next]_phase /\\ WF_phase(Next)
InOrder == [][phase' = (phase + 1) % Phases]_phase
ComesBack == []<>(phase = 0)
====
"""
MODELS_OF_LIGHT = """
format = "certree-models"
version = 2
kinds = ["lost"]
[modules.Light]
constants = ["Phases = 3"]
invariants = "TypeOK"
properties = "InOrder ComesBack"
[models.Light]
about = "A light of three phases."
expected = { distinct = 3, total = 4 }
[models.LightOfFive]
about = "More phases."
constants = ["Phases   =  5"]
properties = "ComesBack"
expected = { distinct = 5, total = 6 }
[models.LightSkips]
about = "A phase is left out."
like = "LightOfFive"
constants = ["Next <- Skips"]
properties = "InOrder"
mutation = { kind = "lost", of = "Light!Next" }
expected = { safety = "InOrder", distinct = 2, total = 2 }
[tables]
collective = "all-reduce"
message_bytes = 64
seed = 1
[tables.entries]
"ring:4/multitree" = { message_bytes = 32, total = 9 }
"""


def load(folder, text=MODELS_OF_LIGHT):
    (folder / "Light.tla").write_text(LIGHT)
    (folder / "models.toml").write_text(text)
    return load_models(folder / "models.toml")


def test_an_entry_is_what_it_starts_from_and_what_it_states(tmp_path):
    models = load(tmp_path).models
    common = Configuration(constants={"Phases": "= 3"}, invariants=("TypeOK",), properties=("InOrder", "ComesBack"))
    assert models["Light"].configuration == common
    assert models["LightOfFive"].configuration == replace(common, constants={"Phases": "= 5"}, properties=("ComesBack",))
    assert models["LightSkips"].configuration == Configuration(
        constants={"Phases": "= 5", "Next": "<- Skips"}, properties=("InOrder",)
    )
    asked = MODELS_OF_LIGHT.replace('properties = "InOrder"\nmutation', 'invariants = "TypeOK"\nproperties = "InOrder"\nmutation')
    told = load(tmp_path, asked).models["LightSkips"].configuration
    assert told.text.splitlines() == [
        "SPECIFICATION Spec", "CONSTANTS", "  Phases = 5", "  Next <- Skips", "INVARIANTS TypeOK", "PROPERTIES InOrder"
    ]  # fmt: skip
    (tables,) = load(tmp_path).tables.values()
    assert (tables.topology, tables.method, tables.message_bytes, tables.seed) == ("ring:4", "multitree", 32, 1)
    assert (tables.expected.mode, tables.expected.result) == ("simulation", "success")


@pytest.mark.parametrize(("start", "asked"), [("Light", ((), ("InOrder",))), ("LightOfFive", None)])
def test_what_must_fail_is_asked_for_what_it_breaks(tmp_path, start, asked):
    text = MODELS_OF_LIGHT.replace('like = "LightOfFive"', f'like = "{start}"').replace('properties = "InOrder"\nm', "m")
    if asked is None:
        with pytest.raises(InputError, match="models: LightSkips: InOrder is expected to be broken; state it in invariants or"):
            load(tmp_path, text)
    else:
        told = load(tmp_path, text).models["LightSkips"].configuration
        assert (told.invariants, told.properties) == asked


def test_a_model_is_one_entry(tmp_path, monkeypatch):
    """One entry and its module: no other list names a model; it is checked, written for the Toolbox, and a mutant is one of its
    family."""
    load(tmp_path)
    monkeypatch.setattr(runs, "resources", SimpleNamespace(files=lambda package: tmp_path))
    listed.cache_clear()
    try:
        results = model_check()
        assert [(result.name, result.result, result.as_expected) for result in results] == [
            ("Light", "success", True), ("LightOfFive", "success", True), ("LightSkips", "safety", True)
        ]  # fmt: skip
        assert "a model of Light.tla that must fail (safety, InOrder): A phase is left out." in configuration_file("LightSkips")
        assert [model.name for model in mutants.mutants_of(mutants.families()["Light"])] == ["LightSkips"]
    finally:
        listed.cache_clear()


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('kinds = ["lost"]', "kinds = [", "models.toml is not TOML: "),
        ("version = 2", "version = 1", "version 1 cannot be read; expected 2"),
        (
            "[modules.Light]",
            "[module.Light]",
            "modules is missing; unknown field 'module'; did you mean 'modules'. known: kinds, modules, models, tables",
        ),
        ("[models.Light]", "[models.Lamp]", "models: Lamp: its name must begin with that of a module; known: Light"),
        ('about = "More phases."', "", "models: LightOfFive: about is missing; known: about, expected, mutation, "),
        ('"More phases."', '" "', "models: LightOfFive: about must describe in one line what the model shows"),
        (
            'like = "LightOfFive"',
            'like = "LightOfFiv"',
            "models: LightSkips: like: unknown model 'LightOfFiv'; did you mean LightOfFive or",
        ),
        ('about = "More phases."', 'about = "x"\nlike = "LightSkips"', "like leads back to it, by LightOfFive, LightSkips"),
        ('"Next <- Skips"', '"Next: Skips"', "models: LightSkips: constant 'Next: Skips'; expected 'Name = value' or"),
        ('"Next <- Skips"', "3", "models: LightSkips: constants is 3; expected a string"),
        (
            'properties = "ComesBack"',
            'property = "ComesBack"',
            "LightOfFive: unknown field 'property'; .*did you mean 'properties'?",
        ),
        ('properties = "ComesBack"', "properties = []", r"models: LightOfFive: properties is \[\]; expected a string"),
        ('kind = "lost", ', "", "models: LightSkips: mutation: kind is missing"),
        ('kind = "lost"', 'kind = "found"', "models: LightSkips: mutation: unknown kind 'found'; known: lost"),
        ('safety = "InOrder", ', "", "models: LightSkips: mutation: it must fail, and success is expected"),
        ('safety = "InOrder"', 'safety = "InOrder", deadlock = true', "safety and deadlock; a check has one result"),
        ("distinct = 5, ", "", "models: LightOfFive: expected: distinct is missing"),
        ("distinct = 5, total", 'distinct = "5", total', "expected: distinct is '5'; allowed: whole numbers from 1"),
        (
            "distinct = 5, total = 6 }",
            "total = 6 }\nsimulation = { runs = 1 }",
            "simulation: depth, seed are missing; known: runs, depth, seed",
        ),
        (
            "distinct = 5, total = 6 }",
            'distinct = 5, total = 6 }\nruntime = "long"',
            "LightOfFive: unknown runtime 'long'; known: small, full",
        ),
        ('"ring:4/multitree"', '"ring:4"', "tables: entries: ring:4: expected NETWORK/METHOD"),
        ("seed = 1", "", "tables: entries: ring:4/multitree: seed is missing"),
    ],
)
def test_wrong_entries_are_refused(tmp_path, old, new, reason):
    assert MODELS_OF_LIGHT.count(old) == 1
    with pytest.raises(InputError, match=reason):
        load(tmp_path, MODELS_OF_LIGHT.replace(old, new))


def test_configurations_are_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert certree("model-check", "config", "MCAllReduceWithdrawn").err == "wrote MCAllReduceWithdrawn.cfg\n"
    text = (tmp_path / "MCAllReduceWithdrawn.cfg").read_text()
    told = "MCAllReduceWithdrawn, a model of MCAllReduce.tla that must fail (safety, Stays): A finished result is taken back."
    assert text == f"\\* {told}\n{listed().models['MCAllReduceWithdrawn'].configuration.text}"
    assert certree("model-check", "config", "MCAllReduce", "-o", "other.cfg").code == 0
    before = (tmp_path / "other.cfg").read_bytes()
    assert_bad_input(certree("model-check", "config", "MCSchedule", "-o", "other.cfg"), "other.cfg exists; pass --force")
    assert (tmp_path / "other.cfg").read_bytes() == before
    assert certree("model-check", "config", "MCSchedule", "-o", "other.cfg", "--force").code == 0
    for arguments, reason in (
        (["config", "MCAllReduceGathr"], "unknown model 'MCAllReduceGathr'; did you mean MCAllReduceGather"),
        (["config", "ring:4/multitree"], "unknown model 'ring:4/multitree'; known: MCAllReduce, "),
        (["--write-cfg", "MCAllReduce", "--full"], "config takes no --full"),
        (["-o", "x.cfg"], "specs takes no -o"),
    ):
        assert_bad_input(certree("model-check", *arguments), reason)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["MCAllReduceWithdrawn.cfg", "other.cfg"]
