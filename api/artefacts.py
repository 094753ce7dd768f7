"""Artefacts: what is found on a path, and what can be done with it. Every command and every function of the API uses this module.

A kind of artefact is a class below `Artefact`, registered by `artefact` in one file of `certree.api.kinds`, or in a module that an
extra names as a plug-in of the kind "artefacts". The contents of a file decide which kind it is, not the end of its name.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, ClassVar

from certree.api.api_errors import InvalidScheduleError
from certree.api.settings import Tell, silent
from certree.models.common.errors import InputError, closest, short
from certree.models.common.extras import import_plug_ins
from certree.models.common.files import Opened, as_opened
from certree.models.common.registry import Registry, import_folder
from certree.models.machine.machine import Machine
from certree.models.network.topology import Topology
from certree.models.schedule.collective import Collective
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule
from certree.models.tables.tables import Tables

NO_TRUST = "trust is for bundles; for anything else everything is recomputed"
_NONE = ("\0",)  # the end of no name


@dataclass(frozen=True)
class Asked:
    """Requirements on an artefact: the network and collective that it must be for (`root` where no collective states it), routes
    of CSV rows, size, machine, parts of a bundle to trust, the executor of a program. `tell` receives lines of progress."""

    topology: Topology | None = None
    collective: Collective | None = None
    root: int | None = None
    route: str | None = None
    size: int | str | None = None
    machine: str | Path | Machine | None = None
    trust: str | None = None
    executor: str | None = None
    tell: Tell = field(default=silent, compare=False)

    def stated(self) -> list[str]:
        """The names of the requirements that are stated."""
        return [one.name for one in fields(self) if one.name != "tell" and getattr(self, one.name) is not None]


@dataclass(frozen=True)
class Checked:
    """The result of the check of an artefact.

    `verdict`: what `ct.verify` returns; it has `valid`. `report`: makes the JSON document of `certree verify`, of the kind `kind`;
    its argument receives a line for each setting that differs from what the artefact records. `words`: the document for people.
    `before`: lines that are printed first. `then`: the command that usually follows a valid one. `result`: what `certree import`
    writes, a schedule or the bytes of a file. `tables`: those that were checked, where that is what they are.
    """

    verdict: Any
    report: Callable[[Tell], dict[str, Any]]
    words: Callable[[Any], str]
    kind: str
    then: tuple[object, ...] = ()
    before: str | None = None
    result: AnySchedule | bytes | None = None
    tables: Tables | None = None

    @property
    def valid(self) -> bool:
        """Whether no rule is broken."""
        return bool(self.verdict.valid)

    @property
    def schedule(self) -> AnySchedule:
        """The schedule that was checked; InputError where there is none."""
        if self.result is None or isinstance(self.result, bytes):
            raise InputError("there is no schedule in it")
        return self.result


class Artefact:
    """One kind of artefact; the class docstring is its help text.

    `format`: what JSON documents of this kind state as theirs. `refuses`: for the name of a field of `Asked`, why it does not apply
    to this kind. `is_network`: whether it is a network; any other kind is taken where a schedule is asked for, and says so if it
    has none. `is_more`: whether its verdict is on more than a schedule. `needs_network`: whether it is read only with a network and
    a collective; `on_any_network`: whether it becomes a schedule on a network that is given. `in_folders`: whether `verify` looks
    for it in folders. `has_executors`: whether executors with limits take it. `imports`: the ends of names of what `certree import`
    writes of it; empty where it is not imported. `rules`: rules that only its reports have, with their meaning. `endings`: ends of
    the names that such files usually have, by which the nearest kind of an unknown file is found; `own_endings`: those that no
    other files have. `run_by`: what an extra provides to run it, where `certree simulate` does not run a schedule or tables of it.
    """

    name: ClassVar[str]
    run_by: ClassVar[str | None] = None
    format: ClassVar[str | None] = None
    refuses: ClassVar[Mapping[str, str]] = {}
    is_more: ClassVar[bool] = False
    is_network: ClassVar[bool] = False
    needs_network: ClassVar[bool] = False
    on_any_network: ClassVar[bool] = False
    in_folders: ClassVar[bool] = True
    has_executors: ClassVar[bool] = False
    imports: ClassVar[tuple[str, ...]] = ()
    rules: ClassVar[Mapping[str, str]] = {}
    endings: ClassVar[tuple[str, ...]] = ()
    own_endings: ClassVar[tuple[str, ...]] = ()

    def matches(self, opened: Opened) -> bool:
        """Whether a path holds this kind: by the stated format, by a look at the beginning of the file, or at the names in a
        folder."""
        return opened.format is not None and opened.format == self.format

    def load(self, opened: Opened, asked: Asked) -> Any:
        """The object that the path holds."""
        raise NotImplementedError

    def schedule(self, opened: Opened, asked: Asked) -> AnySchedule | Tables:
        """The schedule or the tables that the path holds; InputError where this kind has none."""
        raise InputError(f"{opened} is of the kind {self.name}; expected a schedule or tables")

    def verify(self, opened: Opened, asked: Asked) -> Checked:
        """The result of the check of everything in it; InputError for what cannot be read, and for a kind that has no check."""
        raise InputError(f"{opened} is of the kind {self.name}, for which there is no check; expected a schedule or tables")

    def import_suffixes(self, opened: Opened) -> tuple[str, ...]:
        """The ends of names of what `certree import` writes of a file."""
        return self.imports

    def applicable(self, asked: Asked) -> Asked:
        """The requirements without those that do not apply to this kind: each of several artefacts takes its own."""
        refused = set(self.refuses) if self.has_executors else {*self.refuses, "executor"}
        left_out: dict[str, Any] = dict.fromkeys(set(asked.stated()) & refused)
        return replace(asked, **left_out)

    def require_valid(self, checked: Checked) -> AnySchedule:
        """The schedule in something that was checked; an error with the first violation where it is invalid."""
        if not checked.valid:
            raise InvalidScheduleError(checked.schedule, checked.verdict)
        return checked.schedule

    def require_applicable(self, opened: Opened, asked: Asked) -> None:
        """Raise InputError where something is stated that does not apply to this kind."""
        for name in asked.stated():
            if name == "executor" and not self.has_executors:
                raise InputError(f"{opened}: an executor is for programs; this is of the kind {self.name}")
            if name in self.refuses:
                raise InputError(f"{opened}: {self.refuses[name]}")


ARTEFACTS: Registry[Artefact] = Registry("kind of artefact")


def artefact(name: str) -> Callable[[type[Artefact]], type[Artefact]]:
    """Register the decorated class as a kind of artefact."""

    def add(kind: type[Artefact]) -> type[Artefact]:
        kind.name = name
        ARTEFACTS.register(name)(kind())
        return kind

    return add


def load_artefacts() -> Registry[Artefact]:
    """The registry, with the kinds of the kernel and of all extras imported."""
    import_folder("certree.api.kinds")
    import_plug_ins("artefacts")
    return ARTEFACTS


def kind_of(opened: Opened) -> Artefact | None:
    """The kind of what a path holds: by its contents, or, where these are damaged, by an end of its name that only one kind has.
    None where there is no such kind."""
    found = next((kind for kind in _kinds() if kind.matches(opened)), None)
    if found is None and opened.path.is_file():
        found = next((kind for kind in _kinds() if opened.path.name.lower().endswith(kind.own_endings or _NONE)), None)
    return found


def _kinds() -> Iterator[Artefact]:
    """All kinds: those of the kernel, then those of extras, which are imported only then, and networks, which have many formats,
    last."""
    import_folder("certree.api.kinds")
    known = [ARTEFACTS[name] for name in ARTEFACTS]
    yield from (kind for kind in known if not kind.is_network)
    import_plug_ins("artefacts")
    yield from (ARTEFACTS[name] for name in ARTEFACTS if ARTEFACTS[name] not in known)
    yield from (kind for kind in known if kind.is_network)


def opened_kind(path: str | Path | Opened) -> tuple[Opened, Artefact]:
    """A path and its kind, or the kind that its name suggests, whose reader then says what is missing; InputError where nothing is
    there, and where neither contents nor name are those of a kind."""
    opened = as_opened(path)
    kind = kind_of(opened) or _nearest(opened)
    if kind is None:
        raise InputError(_unknown(opened))
    return opened, kind


def holds_schedule(path: str | Path | Opened) -> bool:
    """Whether a path is to be read as a schedule: it holds an artefact that is not a network, or is a folder. Else it is a
    network."""
    opened = as_opened(path)
    kind = kind_of(opened)
    return opened.is_folder if kind is None else not kind.is_network


def verify_artefact(path: str | Path | Opened, asked: Asked) -> Checked:
    """The result of the check of everything on a path."""
    opened, kind = opened_kind(path)
    kind.require_applicable(opened, asked)
    return kind.verify(opened, asked)


def _nearest(opened: Opened) -> Artefact | None:
    """The kind whose files usually have such a name."""
    known = load_artefacts()
    return next((known[name] for name in known if opened.path.name.lower().endswith(known[name].endings or _NONE)), None)


def _unknown(opened: Opened) -> str:
    if opened.is_folder:
        return f"{opened} is a folder, and no tables directory: there is no manifest.json"
    if not opened.path.exists():
        return f"cannot read {opened}: No such file or directory"
    known = load_artefacts()
    if opened.format is not None and (near := closest(opened.format.removeprefix("certree-"), known)):
        return f"{opened}: format {short(opened.format)} is of no kind of artefact{near}"
    return f"{opened}: its contents and its name are those of no kind of artefact; known: {', '.join(known)}"
