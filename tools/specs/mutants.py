"""The table of mutants and properties: every model that must fail, checked against all properties of its module.

The table is kept in `specs/KILLS.md`, with a digest of its inputs. Properties of states and steps are checked in one run, where
each property prints its name instead of ending the run; properties of whole runs together, and one by one where that fails.
Mutants may have many more states than the models, or infinitely many. The search ends at a limit of distinct states: violations
found until then count; about other properties nothing is known. An entry of `models.toml` may set lower limits (`looked_at`): a
network with more packets has more conditions of strong fairness, and TLC takes twice as long for each. One worker finds states in
the same order every time, so the table is the same on every computer.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from certree.extras.tla.check.model_file import TIME_LIMITS, Model, listed
from certree.extras.tla.check.model_runs import in_parallel, run_generated, specs_folder
from certree.extras.tla.check.tlc import Result, TlcError, TlcRun
from certree.models.common.files import sha256
from certree.models.common.progress import Counted

KILLED, SURVIVED, NO_ANSWER, MEANS_NOTHING = "x", "", "?", "-"
DEADLOCK = "no deadlock"
# Properties without meaning in a paced run, which has no slots.
_SLOTTED = ("NoLateRow", "SlottedInvariant", "FiredInTime", "NotTooEarly", "SentWhenDue")
_THEOREM = re.compile(r"^THEOREM .*$", re.MULTILINE)  # TLC does not read it
_COMMENT = re.compile(r"\(\*.*?\*\)|\\\*.*?$", re.MULTILINE | re.DOTALL)
_USES = re.compile(r"\b(?:EXTENDS|INSTANCE)\b(.*)$", re.MULTILINE)
_WIDE = 8  # tables with more names than this have numbered columns, with the names listed above


@dataclass(frozen=True)
class Columns:
    """Properties that hold in some model of a family; `invariants` are about single states, `properties` about steps and runs."""

    invariants: tuple[str, ...]
    properties: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """All properties and the absence of deadlock, in the order of the table."""
        return (*self.invariants, *self.properties, DEADLOCK)


def digest_of(models: Sequence[Model]) -> str:
    """SHA-256 of the modules of a family and the configurations of its mutants, without comments, theorems and empty lines."""
    texts = {f"{name}.tla": _sources()[name] for name in modules_of(models)}
    texts |= {f"{model.name}.cfg": model.configuration.text for model in mutants_of(models)}
    parts = []
    for name in sorted(texts):
        lines = (line.rstrip() for line in _THEOREM.sub("", without_comments(texts[name])).splitlines())
        parts.append("\n".join([name, *filter(None, lines)]))
    return sha256("\n".join(parts).encode())


def mutants_of(models: Sequence[Model]) -> list[Model]:
    """The models that must fail."""
    return [model for model in models if model.expected.result is not Result.SUCCESS]


def without_comments(text: str) -> str:
    """The text of a module without its comments."""
    return _COMMENT.sub("", text)


def theorems(text: str) -> list[tuple[str, list[str]]]:
    """The theorems of a module, each on one line: the behaviours that it is about, and the properties that they have."""
    told = [line.removeprefix("THEOREM ").split(" => ") for line in _THEOREM.findall(without_comments(text))]
    return [(spec, kept.split(" /\\ ")) for spec, kept in told]


def source_of(name: str) -> str:
    """The text of a module of `specs/`."""
    return _sources()[name]


def _sources() -> dict[str, str]:
    """The text of every module of `specs/`."""
    return _read(specs_folder())[0]


@cache
def _read(folder: Path) -> tuple[dict[str, str], dict[str, frozenset[str]]]:
    """The text of every module of a folder, and the modules that each extends or instantiates."""
    texts = {path.stem: path.read_text() for path in folder.glob("*.tla")}
    lines = {name: " ".join(_USES.findall(without_comments(text))) for name, text in texts.items()}
    return texts, {name: frozenset(re.findall(r"\w+", line)) & texts.keys() for name, line in lines.items()}


def modules_of(models: Sequence[Model]) -> frozenset[str]:
    """The modules of the models, and all modules that these extend or instantiate."""
    uses = _read(specs_folder())[1]
    found: set[str] = set()
    new = {model.module for model in models}
    while new:
        found |= new
        new = {used for name in new for used in uses[name]} - found
    return frozenset(found)


def families() -> dict[str, list[Model]]:
    """The models of each module that has mutants, without large mutants; mutants in a separate module belong to the module that
    they mutate."""
    found: dict[str, list[Model]] = {}
    for model in listed().models.values():
        if model.mutation is None or model.runtime == "small":
            found.setdefault(model.module.removesuffix("Faults"), []).append(model)
    return {family: models for family, models in found.items() if any(model.mutation for model in models)}


def columns_of(models: Sequence[Model]) -> Columns:
    """The properties that some model of the family has, each once; conjunctions of properties, and each conjunct."""
    held = [model.configuration for model in models if model.expected.result is Result.SUCCESS]
    invariants = dict.fromkeys(part for told in held for name in told.invariants for part in (name, *_conjuncts(name)))
    return Columns(tuple(invariants), tuple(dict.fromkeys(name for told in held for name in told.properties)))


def kill_tables(report: Callable[[str], None] | None = None, kept: str = "") -> Iterator[str]:
    """Markdown tables, one per family of modules: a line per mutant and a column per property that holds in some model.

    `x`: the mutant violates the property; `?`: TLC cannot evaluate the property there, or found no violation among the states up
    to the limit; `-`: the property has no meaning there. `report` is called for each mutant. Takes tens of minutes. `kept`: the
    tables of before, of which those stay whose modules and mutants are the same.
    """
    before = {part.partition("\n")[0]: f"## {part.rstrip()}\n" for part in kept.split("\n## ")[1:]}
    for family, members in families().items():
        same = f"SHA-256 {digest_of(members)}." in before.get(family, "")
        yield "\n" + (before[family] if same else _table(family, members, _rows(mutants_of(members), columns_of(members), report)))


def _conjuncts(name: str) -> list[str]:
    """The names of the conjuncts, if an invariant is a conjunction."""
    for text in _sources().values():
        if found := re.search(rf"^{name} == (\w+(?: /\\ \w+)+)$", text, re.MULTILINE):
            return found[1].split(" /\\ ")
    return []


def _rows(mutants: Sequence[Model], columns: Columns, report: Callable[[str], None] | None) -> list[list[str]]:
    def tell(named: tuple[str, list[str]], done: int, total: int) -> None:
        if report is not None:
            report(Counted(f"{named[0]}: {named[1].count(KILLED)} properties detect it", done, total))

    def named_row(mutant: Model) -> tuple[str, list[str]]:
        return mutant.name, _row(mutant, columns)

    return [row for _, row in in_parallel(named_row, mutants, tell)]


def _row(mutant: Model, columns: Columns) -> list[str]:
    means_nothing = _SLOTTED if mutant.configuration.constants.get("Run") == '= "paced"' else ()
    asked = [name for name in columns.invariants if name not in means_nothing]
    starts = [name for name in columns.properties if _is_about_the_start(mutant, name)]
    steps = {name: found for name in columns.properties if (found := step_of(mutant, name))}
    rest = [name for name in columns.properties if is_of_runs(mutant, name)]
    cells = dict.fromkeys(means_nothing, MEANS_NOTHING) | _watched(mutant, asked, starts, steps)
    is_sound = all(cells[name] in (SURVIVED, MEANS_NOTHING) for name in (*starts, *steps, DEADLOCK))
    cells |= _others(mutant, rest, together=is_sound)
    return [cells[name] for name in columns.names]


def _watched(
    mutant: Model, invariants: Sequence[str], starts: Sequence[str], steps: Mapping[str, tuple[str, str]]
) -> dict[str, str]:
    """Whether a state, the first state, or a step violates each property; and whether some state is a deadlock."""
    watched = [f'Watched{name} == {name} \\/ PrintT("{name}")' for name in (*invariants, *starts)]
    for name, (body, variables) in steps.items():
        # TLC evaluates the variables last; a step that leaves them unchanged violates nothing
        allowed = f"UNCHANGED {variables} \\/ Step{name}"
        watched += [f"Step{name} ==", body, f'Watched{name} == [][{allowed} \\/ PrintT("{name}")]_{variables}']
    watched += [f'WatchedDeadlock == (ENABLED {_next(mutant)}) \\/ PrintT("{DEADLOCK}")']
    lines = [f"INVARIANTS WatchedDeadlock {' '.join(f'Watched{name}' for name in invariants)}"]
    lines += [f"PROPERTIES {' '.join(f'Watched{name}' for name in (*starts, *steps))}"] if starts or steps else []
    limit = mutant.looked_at.states
    try:
        run = _run(mutant, lines, limit, watched)
    except TlcError:  # beyond the first wrong state some properties have no value: check one by one
        single = {name: _verdict(mutant, f"INVARIANTS {name}", limit) for name in invariants}
        single |= {name: _verdict(mutant, f"PROPERTIES {name}", limit) for name in (*starts, *steps)}
        return single | {DEADLOCK: _verdict(mutant, "CHECK_DEADLOCK TRUE", limit, Result.DEADLOCK)}
    rest = SURVIVED if _is_whole(run, limit) else NO_ANSWER
    found = {name: KILLED if name in run.printed else rest for name in (*invariants, *starts, *steps, DEADLOCK)}
    return found | {name: SURVIVED for name in starts if name not in run.printed}


def _next(mutant: Model) -> str:
    """The name of the next-state relation in the mutant's module: `[][Next]_vars` in its specification."""
    pattern = re.compile(rf"^{mutant.configuration.spec} == .*\[\]\[(\w+)\]_", re.MULTILINE)
    found = {match[1] for text in texts_of(mutant) if (match := pattern.search(text))}
    (name,) = found
    return name


def _others(mutant: Model, names: Sequence[str], *, together: bool) -> dict[str, str]:
    """Whether a run violates each property: checked together first; one by one if one is violated, since TLC does not name it."""
    limit = mutant.looked_at.states_of_runs
    if limit == 0:
        return dict.fromkeys(names, NO_ANSWER)
    if not names or (together and _verdict(mutant, f"PROPERTIES {' '.join(names)}", limit) == SURVIVED):
        return dict.fromkeys(names, SURVIVED)
    return {name: _verdict(mutant, f"PROPERTIES {name}", limit) for name in names}


def _verdict(mutant: Model, line: str, limit: int, *kills: Result) -> str:
    """Whether a line of configuration detects the mutant: with any failure, or only with the results in `kills`."""
    try:
        run = _run(mutant, [line], limit)
    except TlcError:
        return NO_ANSWER
    if run.result in (kills or (Result.SAFETY, Result.LIVENESS, Result.DEADLOCK)):
        return KILLED
    return SURVIVED if _is_whole(run, limit) else NO_ANSWER


def _is_whole(run: TlcRun, limit: int) -> bool:
    """Whether all states were examined."""
    return run.distinct_states is not None and run.distinct_states <= limit


def is_of_runs(model: Model, name: str) -> bool:
    """Whether a property is about whole runs, not about the first state or each step."""
    return not _is_about_the_start(model, name) and step_of(model, name) is None


def _is_about_the_start(mutant: Model, name: str) -> bool:
    """Whether a property is about the first state: by its name, or the initial condition of a refined specification."""
    pattern = re.compile(rf"^{name} == (.*!Init|.*!Beginning)$", re.MULTILINE)
    return name.startswith("Begins") or any(pattern.search(text) for text in texts_of(mutant))


def texts_of(mutant: Model) -> list[str]:
    """The modules of the mutant."""
    return [_sources()[module] for module in modules_of([mutant])]


def step_of(mutant: Model, name: str) -> tuple[str, str] | None:
    """The condition that a property states for each step, with its columns in the module, and its variables; otherwise None."""
    pattern = re.compile(rf"^({name} ==\s*?\n?[ ]*)\[\]\[(.*?)\]_(\w+|<<.*?>>)$", re.MULTILINE | re.DOTALL)
    found = {match.groups() for text in texts_of(mutant) if (match := pattern.search(text))}
    if not found:
        return None
    ((head, body, variables),) = found  # properties of the same name in several modules are equal
    return " " * (len(head.rpartition("\n")[2]) + 3) + body, variables


def _run(mutant: Model, lines: Sequence[str], limit: int, definitions: Sequence[str] = ()) -> TlcRun:
    """The mutant with other properties; unless they are checked for, deadlocks count as ordinary ends of runs.

    The search stops at a limit of states: a run within them is a run of the mutant, and fair if it is fair there.
    """
    bare = replace(mutant.configuration, invariants=(), properties=(), check_deadlock="CHECK_DEADLOCK TRUE" in lines)
    config = [bare.text, *lines, "CONSTRAINT WithinLimit"]
    text = ["---- MODULE Kills ----", f"EXTENDS {mutant.module}", "LOCAL INSTANCE TLC", *definitions]
    text += [f'WithinLimit == TLCGet("distinct") <= {limit}', "====", ""]
    return run_generated("Kills", "\n".join(text), "\n".join(config) + "\n", time_limit=TIME_LIMITS["full"], heap="1g")


def short_name(family: str, mutant: Model) -> str:
    """The mutant's name within its family."""
    return mutant.name.removeprefix(family).removeprefix("Faults").removeprefix("Fault")


def _table(family: str, members: Sequence[Model], rows: Sequence[Sequence[str]]) -> str:
    heads = columns_of(members).names
    lines = [f"## {family}", "", f"Of modules and mutants with SHA-256 {digest_of(members)}.", ""]
    if len(heads) > _WIDE:
        lines += [", ".join(f"{number} {name}" for number, name in enumerate(heads, 1)), ""]
        heads = tuple(str(number) for number in range(1, len(heads) + 1))
    lines += ["| mutant | what | of | " + " | ".join(heads) + " |", "|---" * (len(heads) + 3) + "|"]
    for mutant, row in zip(mutants_of(members), rows, strict=True):
        assert mutant.mutation is not None
        lines.append(f"| {short_name(family, mutant)} | {mutant.mutation.kind} | {mutant.mutation.of} | " + " | ".join(row) + " |")
    return "\n".join(lines) + "\n"
