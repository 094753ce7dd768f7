"""`specs/models.toml`: every TLA+ model as what it changes in others, and what is expected of it. The file says how it is read."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

from certree.models.common.errors import unknown_name
from certree.models.common.fields import Fields, FromZero
from certree.models.common.files import read_bytes
from certree.models.common.presets import parse_toml
from certree.verify.tla.runs import Configuration, specs_folder
from certree.verify.tla.tlc import Result, Simulation

FORMAT, VERSION = "certree-models", 2
#: seconds that a check may take before it counts as undecided, by runtime class; those that are small are checked by default
TIME_LIMITS = {"small": 300.0, "full": 3600.0}
_FAILURES = (Result.SAFETY, Result.LIVENESS, Result.DEADLOCK)
_CONSTANT = re.compile(r"(\w+) *((?:=|<-) *\S.*)")
_LISTS = ("invariants", "properties")
_BASE = ("like", "spec", "constants", "symmetry", "constraint", "check_deadlock", *_LISTS)
_MODEL = ("mutation", "runtime", "simulation", "looked_at", *_BASE)
_COMMON = ("collective", "message_bytes", "seed")  # to tables that are listed, unless they say otherwise


@dataclass(frozen=True)
class Expected:
    """How a check must end: `result`; for safety and liveness the property that it `breaks`, and what TLC calls a broken one
    (`told_as`; nothing of liveness); and after how many states, distinct ones None for random runs."""

    result: Result
    breaks: str
    told_as: str
    distinct_states: int | None
    total_states: int

    @property
    def mode(self) -> str:
        """`exhaustive`, or `simulation` for random runs."""
        return "simulation" if self.distinct_states is None else "exhaustive"


@dataclass(frozen=True)
class Mutation:
    """What is wrong in a model that must fail: the kind of fault, and `module!definition` or `module!definition!label`."""

    kind: str
    of: str


@dataclass(frozen=True)
class LookedAt:
    """How many distinct states of a mutant are looked at where all properties are put to it (`mutants`): for what is about states
    and steps, and for what is about whole runs, which takes far longer; where that is none, there is no answer."""

    states: int = 1 << 15
    states_of_runs: FromZero = 1 << 13


@dataclass(frozen=True)
class Model:
    """A TLA+ model, what is expected of it and how it is checked."""

    name: str
    module: str
    about: str
    configuration: Configuration
    expected: Expected
    runtime: str
    mutation: Mutation | None
    simulation: Simulation | None
    looked_at: LookedAt


@dataclass(frozen=True)
class ListedTables:
    """The tables that a method makes for a collective on a network; they must hold."""

    name: str
    topology: str
    method: str
    collective: str
    message_bytes: int
    seed: int
    expected: Expected
    runtime: str


@dataclass(frozen=True)
class ModelFile:
    """Models and tables by name, in the order of the file, and the kinds of mutation that there are."""

    models: Mapping[str, Model]
    tables: Mapping[str, ListedTables]
    kinds: tuple[str, ...]


@cache
def listed() -> ModelFile:
    """What `specs/models.toml` lists."""
    return load_models(specs_folder() / "models.toml")


def load_models(path: Path) -> ModelFile:
    """The models and tables of a file, whose modules are in the same folder. InputError, with the entry, for what is wrong."""
    document = Fields.of_format(parse_toml(read_bytes(path), str(path)), FORMAT, VERSION, str(path))
    document.only("kinds", "modules", "models", optional=["tables"])
    stems = frozenset(module.stem for module in path.parent.glob("*.tla"))
    reader = _Reader(stems, document.texts("kinds"), document.table_of("modules"), document.table_of("models"))
    models = {name: reader.model(name) for name in reader.models.table}
    return ModelFile(models, _tables(document.table_of("tables", {})), reader.kinds)


def unknown_model(name: str, known: Iterable[str]) -> str:
    """What to say of a name that is not a model's: names like it, of so many, or all there are."""
    close = get_close_matches(name, list(known), n=3)
    return f"unknown model {name!r}; did you mean {' or '.join(close)}?" if close else unknown_name("model", name, known)


@dataclass(frozen=True)
class _Reader:
    """The entries of a file: what all models of a module begin with, and the models."""

    stems: frozenset[str]
    kinds: tuple[str, ...]
    modules: Fields
    models: Fields

    def model(self, name: str) -> Model:
        entry = self._entry(name)
        expected = _expected(entry.table_of("expected"), is_random="simulation" in entry)
        about = entry.text("about")
        if not about.strip() or "\n" in about:
            entry.refuse("about must say in a line what the model shows")
        return Model(
            name=name,
            module=self._module(entry, name),
            about=about,
            configuration=_asked(self._configuration(name, ()), entry, expected),
            expected=expected,
            runtime=entry.text("runtime", default="small", known=TIME_LIMITS),
            mutation=self._mutation(entry.table_of("mutation"), expected) if "mutation" in entry else None,
            simulation=entry.table_of("simulation").read(Simulation) if "simulation" in entry else None,
            looked_at=entry.table_of("looked_at", {}).read(LookedAt),
        )

    def _mutation(self, entry: Fields, expected: Expected) -> Mutation:
        if expected.result is Result.SUCCESS:
            entry.refuse("it must be refuted, and success is expected")
        entry.text("kind", known=self.kinds)
        return entry.read(Mutation)

    def _entry(self, name: str) -> Fields:
        return self.models.table_of(name).only("about", "expected", optional=_MODEL)

    def _module(self, entry: Fields, name: str) -> str:
        """The longest name of a module that the model's begins with."""
        found = [stem for stem in self.stems if name.startswith(stem)]
        if not found:
            entry.refuse(f"its name must begin with that of a module; known: {', '.join(sorted(self.stems))}")
        return max(found, key=len)

    def _configuration(self, name: str, heirs: tuple[str, ...]) -> Configuration:
        """Of a model, before a failure narrows what is asked."""
        entry = self._entry(name)
        if name in heirs:
            entry.refuse(f"like leads back to it, by {', '.join(heirs[heirs.index(name) :])}")
        if "like" in entry:
            return _changed(self._like(entry, (*heirs, name)), entry)
        base = self.modules.table_of(self._module(entry, name), {}).only(optional=_BASE)
        start = self._like(base, (*heirs, name)) if "like" in base else Configuration()
        return _changed(_changed(start, base), entry)

    def _like(self, entry: Fields, heirs: tuple[str, ...]) -> Configuration:
        name = entry.text("like")
        if name not in self.models:
            entry.refuse(f"like: {unknown_model(name, self.models.table)}")
        return self._configuration(name, heirs)


def _changed(start: Configuration, entry: Fields) -> Configuration:
    """A configuration with what an entry states of it."""
    constants = dict(start.constants)
    for text in entry.texts("constants", default=[]):
        match = _CONSTANT.fullmatch(" ".join(text.split()))
        if match is None:
            entry.refuse(f"constant {text!r}; expected 'Name = value' or 'Name <- definition'")
        constants[match[1]] = match[2]
    stated: dict[str, Any] = {name: entry.text(name) for name in ("spec", "symmetry", "constraint") if name in entry}
    stated |= {name: tuple(entry.text(name).split()) for name in _LISTS if name in entry}
    check_deadlock = entry.choice("check_deadlock", (True, False), default=start.check_deadlock)
    return replace(start, constants=constants, check_deadlock=check_deadlock, **stated)


def _asked(full: Configuration, entry: Fields, expected: Expected) -> Configuration:
    """What must fail is only asked for what it breaks, unless it states itself what it is asked for."""
    if expected.result is Result.SUCCESS:
        return full
    if any(name in entry for name in _LISTS) or not expected.breaks:
        own: dict[str, Any] = {name: getattr(full, name) if name in entry else () for name in _LISTS}
        return replace(full, **own)
    if expected.result is Result.LIVENESS or expected.breaks in full.properties:
        return replace(full, invariants=(), properties=(expected.breaks,))
    if expected.breaks not in full.invariants:
        entry.refuse(f"{expected.breaks} is expected to be broken; state it in invariants or in properties")
    return replace(full, invariants=(expected.breaks,), properties=())


def _expected(entry: Fields, *, is_random: bool) -> Expected:
    """`is_random`: all states are not known, only how many were visited."""
    failures = [result for result in _FAILURES if result in entry]
    if len(failures) > 1:
        entry.refuse(f"{' and '.join(failures)}; a check ends in one way")
    result = failures[0] if failures else Result.SUCCESS
    breaks = entry.text(result) if result in (Result.SAFETY, Result.LIVENESS) else ""
    told_as = entry.text("told_as", default=breaks) if result is Result.SAFETY else ""
    if result is Result.DEADLOCK:
        entry.choice(result, (True,))
    distinct = None if is_random else entry.whole("distinct", 1)
    total = entry.whole("total", 1)
    entry.done()
    return Expected(result, breaks, told_as, distinct, total)


def _tables(section: Fields) -> dict[str, ListedTables]:
    common = {name: value for name, value in section.only(optional=[*_COMMON, "entries"]).table.items() if name != "entries"}
    entries, found = section.table_of("entries", {}), {}
    for name in entries.table:
        own = entries.table_of(name).only("total", optional=["distinct", "runtime", *_COMMON])
        entry = entries.inner(common | dict(own.table), name)
        topology, slash, method = name.rpartition("/")
        if not slash:
            entry.refuse("expected NETWORK/METHOD")
        found[name] = ListedTables(
            name=name,
            topology=topology,
            method=method,
            collective=entry.text("collective"),
            message_bytes=entry.whole("message_bytes", 1),
            seed=entry.whole("seed"),
            runtime=entry.text("runtime", default="small", known=TIME_LIMITS),
            expected=_expected(entry, is_random="distinct" not in entry),
        )
    return found
