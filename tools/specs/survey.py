"""Single edits of the modules against the models of their families, and the survivors with their arguments.

Models are asked from the smallest to the largest, each about the edits that nothing has found yet: first states and steps of all
edits at once, then whole runs. An edit counts as found when a property fails, in any of them. Where TLC stops with an error, or
goes beyond a limit of states, a check of models notices, too, but no property does: edits with which that happens in some model,
and which no property finds in another, are listed apart.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from certree.extras.tla.check.model_file import Model, listed
from certree.extras.tla.check.model_runs import specs_folder
from certree.extras.tla.check.tlc import Result
from certree.models.common.fields import Fields
from certree.models.common.files import read_bytes
from certree.models.common.presets import parse_toml
from tools.specs.definitions import Module, module_of, reached_from
from tools.specs.guard_edits import NEIGHBOURS, actions_of, guard_edits_of
from tools.specs.mutants import source_of
from tools.specs.single_edits import PER_DEFINITION, Edit, edits_of
from tools.specs.together import (
    ENDLESS,
    NO_VALUE,
    asked_of,
    is_readable,
    kill_alone,
    kills_of_runs,
    kills_together,
    passes_together,
    with_meaning,
)

#: the modules whose single edits are made, and the modules of the models that are asked about them
EDITED = {
    "AllReduce": "MCAllReduce",
    "Schedule": "MCSchedule",
    "NITables": "MCNILockstep",
    "NILanes": "MCNILockstep",
    "NISequencer": "MCNILockstep",
    "NILockstep": "MCNILockstep",
    "SubPacketFlow": "MCSubPacketFlow",
    "TraceSubPacketFlow": "MCTraceSubPacketFlow",
    "InNetworkReduce": "MCInNetworkReduce",
    "AceEngine": "MCAceEngine",
    "ScheduleBuffers": "MCScheduleBuffers",
    "BankSwitch": "MCBankSwitch",
}
#: the modules all of whose guards, updates, fairness and initial values are edited, and the modules of their models
GUARDED: Mapping[str, tuple[str, ...]] = {
    "AllReduce": ("MCAllReduce",),
    "Schedule": ("MCSchedule",),
    **dict.fromkeys(("NITables", "NILanes", "NISequencer", "NILockstep"), ("MCNIRules", "MCNILockstep")),
    **dict.fromkeys(("NIPaced", "CheckNIPaced"), ("MCNIPaced",)),
    "NIUses": ("MCNIUses",),
    "NIJoint": ("MCNIJoint",),
    "SubPacketFlow": ("MCFlowRules", "MCSubPacketFlow"),
    "ScheduleBuffers": ("MCScheduleBuffers",),
    "BankSwitch": ("MCBankSwitch",),
    "BankPaced": ("MCBankPaced",),
    "AceEngine": ("MCAceEngine",),
    "InNetworkReduce": ("MCInNetworkReduce",),
    "TraceSubPacketFlow": ("MCTraceSubPacketFlow",),
    "TraceNIUses": ("MCTraceNIUses",),
}
#: of these, modules that accept runs: models that must fail are asked, too, and an edit is found when one does not
ACCEPTORS = ("TraceSubPacketFlow", "TraceNIUses")
#: models with more states than this are not asked
MOST_STATES = 60_000
#: about edits of guards, of each module of models those with up to this many states, and this many in any case
MOST_STATES_OF_GUARDS, FEWEST_MODELS_OF_GUARDS = 1_800, 2
#: where edits need more: two packets or chunks, or messages of two epochs, that meet; an interface that opens tables early
MORE_STATES_OF_GUARDS = {"InNetworkReduce": 22_000, "AceEngine": 8_000, "BankPaced": 6_000, "BankSwitch": 54_000}
#: of these, this many are asked about edits that `specs/edits.toml` has: enough to see that an argument is wrong, in most cases
MODELS_OF_KNOWN = 8
#: of the models, this many of the smallest are asked about edits that are run one by one
MODELS_ALONE = 28
#: an edit with which TLC stopped in this many models is not asked about in more
MODELS_STOPPED = 8
_WORD = re.compile(r"\w+")
#: the parts of the interfaces' module; the last one has the specification
_PARTS = ("NITables", "NILanes", "NISequencer", "NILockstep")
#: modules that build on these parts, by the modules of their models: those that come between, the specification among them
_BEFORE: Mapping[tuple[str, ...], tuple[str, ...]] = {
    ("MCNIPaced",): ("NIPaced",),
    ("MCNIUses",): ("NIPaced",),
    ("MCTraceNIUses",): ("NIPaced", "NIUses"),
    ("MCNIJoint",): (),
}
#: modules of which models take the steps in place of those of the specification, which is in the module before them
_IN_PLACE = {"CheckNIPaced": "NextAlone"}


@dataclass(frozen=True)
class Outcome:
    """The outcome of an edit: the property that failed and the model where it did; NO_VALUE or ENDLESS; or nothing, twice empty."""

    edit: Edit
    found: str
    model: str

    @property
    def by_property(self) -> bool:
        """Whether a property failed."""
        return self.found not in ("", NO_VALUE, ENDLESS)

    def then(self, found: str, model: str) -> "Outcome":
        """The outcome of the edit, now that another model has been asked: a property counts more than the first other answer."""
        new = Outcome(self.edit, found, model)
        return new if new.by_property or not self.found else self


def models_for(module: str, *, guards: bool = False) -> list[Model]:
    """The models asked about a module's edits, from the smallest to the largest; `guards`: of each module of models, in turn."""
    if not guards:
        return _models_of(EDITED[module], module)
    families = [_models_of(family, module) for family in GUARDED[module]]
    most = MORE_STATES_OF_GUARDS.get(module, MOST_STATES_OF_GUARDS)
    return [
        model
        for models in families
        for place, model in enumerate(models)
        if place < FEWEST_MODELS_OF_GUARDS or model.expected.total_states <= most
    ]


def _models_of(family: str, module: str) -> list[Model]:
    members = [model for model in listed().models.values() if model.module == family]
    fit = [model for model in members if model.expected.result is Result.SUCCESS and model.simulation is None]
    small = [model for model in fit if not model.configuration.symmetry and model.expected.total_states <= MOST_STATES]
    own = [model for model in small if family != "MCNIPaced" or model.configuration.spec == "UntimedSpec"]
    return sorted(own, key=lambda model: model.expected.total_states)


def wrong_models_of(module: str) -> list[Model]:
    """The models that must fail and are asked about an acceptor: those with wrong logs, not with another module."""
    ends, families = (Result.SAFETY, Result.DEADLOCK), GUARDED[module] if module in ACCEPTORS else ()
    models = [model for model in listed().models.values() if model.module in families and model.expected.result in ends]
    return [model for model in models if model.mutation is None or model.mutation.kind == "wrong log"]


def survey(
    module: str, most: int | None = None, report: Callable[[str], None] | None = None, *, guards: bool = False
) -> Iterator[Outcome]:
    """The outcomes of the edits of a module, at most `most` of each definition (by default two, one in the parts of `NILockstep`).

    `guards`: of all edits of `guard_edits`, instead. Takes minutes."""
    tell = report or (lambda text: None)
    most = most or (1 if module in _PARTS else PER_DEFINITION)
    parts = {name: module_of(name, source_of(name)) for name in _with(module)}
    edited, whole = parts[module], parts[_whole(module)]
    models = models_for(module, guards=guards)
    edits = guards_of(module) if guards else edits_of(edited, _steps(parts, module), most)
    fixed = _constant(parts, module)
    together = {number: edit for number, edit in enumerate(edits, 1) if edit.definition not in fixed}
    together = with_meaning(edited, together)
    alone = [edit for edit in edits if edit.definition in fixed and is_readable(edited, edit)]
    tell(
        f"{module}: {len(together)} edits together, {len(alone)} alone, {len(edits) - len(together) - len(alone)} without a meaning"
    )
    outcomes = {number: Outcome(edit, "", "") for number, edit in together.items()}
    stopped: dict[int, set[str]] = {number: set() for number in together}
    for kills in (kills_together, kills_of_runs):
        for place, model in enumerate(models):
            open_ = [
                n for n, outcome in outcomes.items() if not outcome.by_property and place < _asked(outcome.edit, guards=guards)
            ]
            left = {n: together[n] for n in open_ if model.name not in stopped[n] and len(stopped[n]) < MODELS_STOPPED}
            new = kills(asked_of(model, whole), edited, left) if left else {}
            for number, name in new.items():
                outcomes[number] = outcomes[number].then(name, model.name)
                stopped[number] |= {model.name}
            tell(f"{module}: {model.name} finds {sum(outcomes[number].by_property for number in left)} of {len(left)}")
    for model in wrong_models_of(module) if guards else ():
        left = {n: together[n] for n, outcome in outcomes.items() if not outcome.by_property}
        for number, name in (passes_together(asked_of(model, whole), edited, left) if left else {}).items():
            outcomes[number] = outcomes[number].then(name, model.name)
    yield from outcomes.values()
    for edit in alone:
        outcome = _alone(edited, whole, edit, models[: _asked(edit, guards=guards)])
        tell(f"{module}: {edit.definition}, {edit.kind}: {outcome.found or 'survives'}")
        yield outcome


def _asked(edit: Edit, *, guards: bool) -> int:
    """How many models are asked about an edit at most."""
    return MODELS_OF_KNOWN if guards and edit.key in known_survivors() else len(listed().models)


def guards_of(module: str) -> list[Edit]:
    """All edits of the guards, updates, fairness and initial values of a module."""
    parts = {name: module_of(name, source_of(name)) for name in _with(module)}
    chosen = _steps(parts, module, with_spec=True)
    return guard_edits_of(parts[module], chosen, actions_of(parts.values()), NEIGHBOURS.get(module, {}))


def _steps(parts: Mapping[str, Module], module: str, *, with_spec: bool = False) -> set[str]:
    """The definitions of a module that its steps and first states are made of; and its specification, for fairness."""
    first = asked_of(models_for(module, guards=with_spec)[0], parts[_whole(module)])
    steps = (
        reached_from(dict(parts), {_IN_PLACE.get(module, first.spec)}) - {first.variables} - (set() if with_spec else {first.spec})
    )
    return steps & parts[module].definitions.keys()


def _with(module: str) -> Sequence[str]:
    """The modules among which the definitions of steps are looked for."""
    if module in _PARTS:
        return _PARTS
    before = _BEFORE.get(GUARDED[module])
    return (module,) if before is None else (*_PARTS, *dict.fromkeys((*before, module)))


def _whole(module: str) -> str:
    """The module that has the specification."""
    return _with(module)[-2 if module in _IN_PLACE else -1]


def _constant(parts: Mapping[str, Module], module: str) -> set[str]:
    """The definitions that TLC must see as constants: of tables and fairness, and what assumptions and constants are made of; and
    those whose values it is told to keep."""
    own, variables = parts[module], {name for part in parts.values() for name in part.variables}
    changing = {name for name in own.definitions if _words(parts, name) & variables}
    if not changing:
        return set(own.definitions)
    given = set(_WORD.findall(" ".join(re.findall(r"\bINSTANCE .*?(?=^\S)", own.text, re.MULTILINE | re.DOTALL)))) - changing
    assumed = given | set(re.findall(r"\w+", " ".join(re.findall(r"^ASSUME.*?(?=^\S)", own.text, re.MULTILINE | re.DOTALL))))
    kept = {name for name, definition in own.definitions.items() if "TLCEval" in definition.body} - changing
    temporal = {name for name, definition in own.definitions.items() if definition.is_temporal}
    return reached_from({module: own}, assumed | kept) | temporal


def _words(parts: Mapping[str, Module], name: str) -> set[str]:
    """All words of a definition and of those that it uses."""
    bodies = {each: definition.body for part in parts.values() for each, definition in part.definitions.items()}
    return {word for each in reached_from(dict(parts), {name}) for word in _WORD.findall(bodies[each])}


def _alone(module: Module, home: Module, edit: Edit, models: Sequence[Model]) -> Outcome:
    outcome, stopped = Outcome(edit, "", ""), 0
    for model in models[:MODELS_ALONE]:
        if found := kill_alone(asked_of(model, home), module, edit):
            outcome, stopped = outcome.then(found, model.name), stopped + 1
        if outcome.by_property or stopped == MODELS_STOPPED:
            break
    return outcome


@dataclass(frozen=True)
class Survivor:
    """An edit that no property sees, in `specs/edits.toml`: whether and why it makes no difference, or what would find it."""

    equivalent: bool
    why: str


@cache
def known_survivors() -> dict[tuple[str, str, str, str], Survivor]:
    """The survivors of `specs/edits.toml`, by the keys of their edits. Raises InputError for faults of the file."""
    path = specs_folder() / "edits.toml"
    document = Fields.of_format(parse_toml(read_bytes(path), str(path)), "certree-edits", 1, str(path)).only("survivors")
    found = {}
    for entry in document.tables("survivors"):
        entry.only("module", "definition", "before", "after", "equivalent", "why")
        key = (entry.text("module"), entry.text("definition"), entry.text("before"), entry.text("after"))
        found[key] = Survivor(entry.choice("equivalent", (True, False)), entry.text("why"))
    return found


@dataclass(frozen=True)
class Count:
    """The edits of a module, by what became of them; `unexplained` are survivors that `specs/edits.toml` does not have."""

    module: str
    edits: int
    by_property: int
    without_value: int
    without_end: int
    equivalent: int
    open: int
    unexplained: tuple[Edit, ...]

    @property
    def words(self) -> str:
        """The numbers in a line, and the unexplained in a line each."""
        head = (
            f"{self.module}: {self.edits} edits; {self.by_property} found by a property, {self.without_value} stop TLC, "
            f"{self.without_end} without end; {self.equivalent} equivalent, {self.open} open, {len(self.unexplained)} unexplained"
        )
        return "\n".join([head, *(f"  {edit.definition}: {edit.before} -> {edit.after}" for edit in self.unexplained)])


def counted(module: str, outcomes: Iterable[Outcome]) -> Count:
    """The outcomes of a module's edits, in numbers."""
    told = list(outcomes)
    lost = [outcome.edit for outcome in told if not outcome.found]
    known = [known_survivors().get(edit.key) for edit in lost]
    return Count(
        module=module,
        edits=len(told),
        by_property=sum(outcome.by_property for outcome in told),
        without_value=sum(outcome.found == NO_VALUE for outcome in told),
        without_end=sum(outcome.found == ENDLESS for outcome in told),
        equivalent=sum(survivor is not None and survivor.equivalent for survivor in known),
        open=sum(survivor is not None and not survivor.equivalent for survivor in known),
        unexplained=tuple(edit for edit, survivor in zip(lost, known, strict=True) if survivor is None),
    )
