"""Reader of `specs/models.toml`: TLA+ models as changes to other models, with expected results. The file explains its form."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

from certree.extras.tla.check.model_runs import Configuration, specs_folder
from certree.extras.tla.check.tlc import Result, Simulation
from certree.models.common.errors import unknown_name
from certree.models.common.fields import Fields, FromZero
from certree.models.common.files import read_bytes
from certree.models.common.presets import parse_toml

FORMAT, VERSION = "certree-models", 2
#: time limit in seconds, after which a check counts as undecided, by runtime class; small models are checked by default
TIME_LIMITS = {"small": 300.0, "full": 3600.0}
_FAILURES = (Result.SAFETY, Result.LIVENESS, Result.DEADLOCK)
_CONSTANT = re.compile(r"(\w+) *((?:=|<-) *\S.*)")
_LISTS = ("invariants", "properties")
_BASE = ("like", "spec", "constants", "symmetry", "constraint", "check_deadlock", *_LISTS)
_MODEL = ("mutation", "runtime", "simulation", "looked_at", *_BASE)
_COMMON = ("collective", "message_bytes", "seed")  # to tables that are listed, unless they say otherwise


@dataclass(frozen=True)
class Expected:
    """The expected end of a check: `result`; for safety and liveness the violated property (`breaks`) and the name by which TLC
    reports it (`told_as`; empty for liveness); and the numbers of states, where distinct states are None for random runs."""

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
    """The fault of a model that must fail: its kind, and `module!definition` or `module!definition!label`."""

    kind: str
    of: str


@dataclass(frozen=True)
class LookedAt:
    """The number of distinct states of a mutant that are examined where all properties are checked (`tools.specs.mutants`): for
    properties of states and steps, and for properties of whole runs, which take far longer; with 0 states there is no answer."""

    states: int = 1 << 15
    states_of_runs: FromZero = 1 << 13


@dataclass(frozen=True)
class Model:
    """A TLA+ model, its expected result and how it is checked."""

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
    """The tables that a method makes for a collective on a network; they must pass the check."""

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
    """Models and tables by name, in the order of the file, and the kinds of mutation."""

    models: Mapping[str, Model]
    tables: Mapping[str, ListedTables]
    kinds: tuple[str, ...]


@cache
def listed() -> ModelFile:
    """The models and tables of `specs/models.toml`."""
    return load_models(specs_folder() / "models.toml")


def load_models(path: Path) -> ModelFile:
    """The models and tables of a file, whose modules are in the same folder. Raises InputError with the entry for faults."""
    document = Fields.of_format(parse_toml(read_bytes(path), str(path)), FORMAT, VERSION, str(path))
    document.only("kinds", "modules", "models", optional=["tables"])
    stems = frozenset(module.stem for module in path.parent.glob("*.tla"))
    reader = _Reader(stems, document.texts("kinds"), document.table_of("modules"), document.table_of("models"))
    models = {name: reader.model(name) for name in reader.models.table}
    return ModelFile(models, _tables(document.table_of("tables", {})), reader.kinds)


def unknown_model(name: str, known: Iterable[str]) -> str:
    """The message for an unknown model name: similar names, or all names."""
    close = get_close_matches(name, list(known), n=3)
    return f"unknown model {name!r}; did you mean {' or '.join(close)}?" if close else unknown_name("model", name, known)


@dataclass(frozen=True)
class _Reader:
    """The entries of a file: the common base of all models of a module, and the models."""

    stems: frozenset[str]
    kinds: tuple[str, ...]
    modules: Fields
    models: Fields

    def model(self, name: str) -> Model:
        entry = self._entry(name)
        expected = _expected(entry.table_of("expected"), is_random="simulation" in entry)
        about = entry.text("about")
        if not about.strip() or "\n" in about:
            entry.refuse("about must describe in one line what the model shows")
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
            entry.refuse("it must fail, and success is expected")
        entry.text("kind", known=self.kinds)
        return entry.read(Mutation)

    def _entry(self, name: str) -> Fields:
        return self.models.table_of(name).only("about", "expected", optional=_MODEL)

    def _module(self, entry: Fields, name: str) -> str:
        """The longest module name that is a prefix of the model's name."""
        found = [stem for stem in self.stems if name.startswith(stem)]
        if not found:
            entry.refuse(f"its name must begin with that of a module; known: {', '.join(sorted(self.stems))}")
        return max(found, key=len)

    def _configuration(self, name: str, heirs: tuple[str, ...]) -> Configuration:
        """The configuration of a model, before an expected failure narrows its properties."""
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
    """A configuration with the changes of an entry."""
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
    """A model that must fail is only checked for the property it breaks, unless its entry states the properties."""
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
    """`is_random`: only the number of visited states is known, not the number of distinct states."""
    failures = [result for result in _FAILURES if result in entry]
    if len(failures) > 1:
        entry.refuse(f"{' and '.join(failures)}; a check has one result")
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
