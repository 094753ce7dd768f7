"""Many edits of a module in one: a variable says which of them a behaviour has, and one run of TLC looks at all of them.

Each edited definition becomes a choice by that variable, which never changes. A property that an edit violates is printed, and
its behaviours are followed no further. A run that cannot be evaluated names the edit at fault by the value of the variable. Where a
property has no value the others are asked without it; where a step has none the other edits are run again without this one.
Definitions that TLC needs as constants cannot depend on a variable: their edits are run one by one (`alone`).
"""

import re
import tempfile
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from certree.extras.tla.check.model_file import TIME_LIMITS, Model
from certree.extras.tla.check.model_runs import run_generated, specs_folder
from certree.extras.tla.check.tlc import Result, TlcError, TlcRun, lines_at_fault
from tools.specs.definitions import Definition, Module
from tools.specs.mutants import DEADLOCK, is_of_runs, step_of
from tools.specs.single_edits import Edit

WHICH = "whichEdit"
NO_VALUE = "no value"  # TLC stops with an error, and no property fails up to there
ASSUMPTION = "an assumption"  # an ASSUME of the module, by which tables and constants fit together
ENDLESS = "no end"  # more states than the limit
NOTHING = "a first state"  # the edited module has none, which the numbers of states of `models.toml` would show
_SPEC = r"^{} == (\w+) /\\ \[\]\[(\w+)\]_(\w+)(.*)$"
PASSES = "a model that must fail does not"
#: an edit may have this many times the states of the model, and this many more
STATES_TIMES, STATES_MORE = 4, 4000


@dataclass(frozen=True)
class Asked:
    """A model as it is asked: the name and parts of its specification, and its properties of states, of steps and of whole runs."""

    model: Model
    spec: str
    init: str
    next: str
    variables: str
    fairness: str
    invariants: tuple[str, ...]
    starts: tuple[str, ...]
    steps: Mapping[str, tuple[str, str]]
    runs: tuple[str, ...]


def asked_of(model: Model, module: Module) -> Asked:
    """How a model is asked whose specification is in that module."""
    spec = model.configuration.spec
    pattern = re.compile(_SPEC.format(spec), re.MULTILINE)
    found = pattern.search(module.text)
    assert found is not None, f"{module.name} has no {spec}"
    steps = {name: told for name in model.configuration.properties if (told := step_of(model, name))}
    runs = tuple(name for name in model.configuration.properties if is_of_runs(model, name))
    starts = tuple(name for name in model.configuration.properties if name not in steps and name not in runs)
    return Asked(model, spec, found[1], found[2], found[3], found[4], model.configuration.invariants, starts, steps, runs)


def edited(module: Module, edits: Mapping[int, Edit]) -> str:
    """The text of a module in which definitions choose among their edits, by number."""
    text = module.text
    by_name: dict[str, dict[int, Edit]] = {}
    for number, edit in edits.items():
        by_name.setdefault(edit.definition, {})[number] = edit
    for name, chosen in sorted(by_name.items(), key=lambda item: -module.definitions[item[0]].start):
        definition = module.definitions[name]
        text = text[: definition.start] + _choice(definition, chosen) + text[definition.end :]
    head = re.search(r"^EXTENDS .*$", text, re.MULTILINE)
    if head is None:
        head = re.search(r"^-+ MODULE .*$", text, re.MULTILINE)
    assert head is not None
    return f"{text[: head.end()]}\nVARIABLE {WHICH}\n{text[head.end() :]}"


def edited_alone(module: Module, edit: Edit) -> str:
    """The text of a module with one edit in place."""
    definition = module.definitions[edit.definition]
    head = module.text[definition.start : definition.start + definition.column]
    return f"{module.text[: definition.start]}{head}{edit.body}\n\n{module.text[definition.end :]}"


def is_readable(module: Module, edit: Edit) -> bool:
    """Whether TLA+ can read the module with the edit in place."""
    with tempfile.TemporaryDirectory(prefix="certree-edits-") as folder:
        path = Path(folder) / f"{module.name}.tla"
        path.write_text(edited_alone(module, edit))
        return not lines_at_fault(path, specs_folder(), TIME_LIMITS["small"])


def with_meaning(module: Module, edits: Mapping[int, Edit]) -> dict[int, Edit]:
    """The edits that TLA+ can read; the others are none."""
    left = dict(edits)
    with tempfile.TemporaryDirectory(prefix="certree-edits-") as folder:
        path = Path(folder) / f"{module.name}.tla"
        while True:
            text = edited(module, left)
            path.write_text(text)
            lines = lines_at_fault(path, specs_folder(), TIME_LIMITS["small"])
            if not lines:
                return left
            wrong = {_edit_at(text, line) for line in lines} & left.keys()
            if not wrong:
                raise TlcError(f"{module.name}: cannot be read at line {lines[0]}: {text.splitlines()[lines[0] - 1].strip()}")
            left = {number: edit for number, edit in left.items() if number not in wrong}


def _edit_at(text: str, line: int) -> int:
    """The edit whose definition a line is in, or that ends before it; 0 where it is none."""
    heads = re.findall(r"^\w+?(?:__(\d+))?(?:\(.*?\))? ==", "\n".join(text.splitlines()[: line - 1]), re.MULTILINE)
    return int(heads[-1] or 0) if heads else 0


def _choice(definition: Definition, chosen: Mapping[int, Edit]) -> str:
    given = f"({', '.join(definition.parameters)})" if definition.parameters else ""
    bodies = {0: definition.body} | {number: edit.body for number, edit in chosen.items()}
    lines = []
    for number, body in bodies.items():
        lines += [f"{definition.name}__{number}{given} ==", " " * definition.column + body.lstrip("\n") if _inline(body) else body]
    arms = [f"{WHICH} = {number} -> {definition.name}__{number}{given}" for number in chosen]
    return "\n".join(
        [*lines, f"{definition.name}{given} ==", f"  CASE {' [] '.join(arms)} [] OTHER -> {definition.name}__0{given}", "", ""]
    )


def _inline(body: str) -> bool:
    """Whether the text begins on the line of the name."""
    return not body.startswith("\n")


def kills_together(asked: Asked, module: Module, edits: Mapping[int, Edit]) -> dict[int, str]:
    """The property that finds each edit, by number: its name, NO_VALUE, or ENDLESS; edits that nothing finds are left out.

    Number 0 is no edit. Raises AssertionError where the module without an edit is found at fault.
    """
    found = _kills(asked, module, edits)
    assert 0 not in found, f"{asked.model.name} without an edit: {found[0]}"
    return found


def passes_together(asked: Asked, module: Module, edits: Mapping[int, Edit]) -> dict[int, str]:
    """The edits with which a model that must fail does not; AssertionError where it does not without an edit."""
    found = _kills(asked, module, edits)
    assert 0 in found, f"{asked.model.name} without an edit does not fail"
    return {number: PASSES for number in edits if found.get(number, NOTHING) == NOTHING}


def _kills(asked: Asked, module: Module, edits: Mapping[int, Edit]) -> dict[int, str]:
    """The property that finds each edit, and the module without an edit, number 0."""
    found: dict[int, str] = {}
    unasked: dict[str, set[int]] = {}
    left = dict(edits)
    while True:
        try:
            run = _watched(asked, module, left, unasked)
            break
        except TlcError as error:
            found |= (printed := _told(error.printed))
            left = {number: edit for number, edit in left.items() if number not in printed}
            told, name = _at_fault(error), _property_at_fault(error)
            if told in found:
                continue  # it has been found, and is out of the next run
            if not left:
                raise
            if told in left and name and told not in unasked.setdefault(name, set()):
                unasked[name].add(told)
                continue
            wrong = told if told in left else _searched(asked, module, left)
            found[wrong] = NO_VALUE
            del left[wrong]
    found |= _told(run.printed)
    if run.result is Result.UNKNOWN:
        found |= {number: ENDLESS for number in left if number not in found}
    else:
        begun = {int(line.removeprefix("begins ")) for line in run.printed if line.startswith("begins ")}
        found |= {number: NOTHING for number in left if number not in begun | found.keys()}
    return dict.fromkeys(set().union(*unasked.values()), NO_VALUE) | found


def _property_at_fault(error: TlcError) -> str | None:
    """The property without a value in the last state, as it is called in `_watched`; None where a step has none."""
    found = re.search(r"Evaluating (?:invariant|action property|assumption) (\w+)", error.output)
    return found[1] if found else None


def _told(printed: Iterable[str]) -> dict[int, str]:
    """The first property printed for each edit."""
    found: dict[int, str] = {}
    for line in sorted(printed):
        if match := re.fullmatch(r"edit (\d+) (.*)", line):
            found.setdefault(int(match[1]), match[2])
    return found


def _at_fault(error: TlcError) -> int | None:
    """The edit of the last state that TLC printed before it stopped."""
    told = re.findall(rf"^/\\ {WHICH} = (\d+)$", error.output, re.MULTILINE)
    return int(told[-1]) if told else None


def _searched(asked: Asked, module: Module, edits: Mapping[int, Edit]) -> int:
    """The first edit with which TLC stops, by halves."""
    numbers = sorted(edits)
    while len(numbers) > 1:
        half = numbers[: len(numbers) // 2]
        try:
            _watched(asked, module, {number: edits[number] for number in half}, {})
            numbers = numbers[len(numbers) // 2 :]
        except TlcError:
            numbers = half
    return numbers[0]


def _watched(asked: Asked, module: Module, edits: Mapping[int, Edit], unasked: Mapping[str, Collection[int]]) -> TlcRun:
    """All edits at once; each property prints the edit that violates it, and is not asked about some."""
    last = max(edits, default=0)
    lines = [f"Edits == {{{', '.join(map(str, [0, *edits]))}}}"]
    lines += [f"ASSUME \\A whichRegister \\in 0..{2 * last + 10} : TLCSet(whichRegister + 1, 0)"]
    lines += [f"EditsHere == {WHICH} + 1", f"EditsStates == {WHICH} + {last + 3}"]
    lines += ['EditsKill(name) == TLCSet(EditsHere, 1) /\\ PrintT("edit " \\o ToString(' + WHICH + ') \\o " " \\o name)']
    lines += ["EditsIsOver == TLCGet(EditsHere) = 1"]
    over = {name: f"EditsIsOver \\/ {WHICH} \\in {{{', '.join(map(str, sorted(numbers)))}}}" for name, numbers in unasked.items()}
    for name in (*asked.invariants, *asked.starts):
        lines += [f'Watched{name} == {over.get(f"Watched{name}", "EditsIsOver")} \\/ {name} \\/ EditsKill("{name}")']
    for name, (body, variables) in asked.steps.items():
        lines += [f"Step{name} ==", body]
        free = f"{over.get(f'Watched{name}', 'EditsIsOver')} \\/ UNCHANGED {variables}"
        lines += [f'Watched{name} == [][{free} \\/ Step{name} \\/ EditsKill("{name}")]_{variables}']
    is_over = over.get("WatchedDeadlock", "EditsIsOver")
    lines += [f'WatchedDeadlock == {is_over} \\/ (ENABLED {asked.next}) \\/ EditsKill("{DEADLOCK}")']
    lines += [f'EditsBegin == TLCGet(EditsStates) # 0 \\/ PrintT("begins " \\o ToString({WHICH}))']
    limit = STATES_TIMES * asked.model.expected.total_states + STATES_MORE
    lines += [
        "WithinLimit ==",
        "  /\\ ~EditsIsOver /\\ EditsBegin /\\ TLCSet(EditsStates, TLCGet(EditsStates) + 1)",
        f'  /\\ TLCGet(EditsStates) <= {limit} \\/ EditsKill("{ENDLESS}")',
    ]
    config = [f"INVARIANTS {' '.join(f'Watched{name}' for name in asked.invariants)} WatchedDeadlock"]
    watched = [f"Watched{name}" for name in (*asked.starts, *asked.steps)]
    config += [f"PROPERTIES {' '.join(watched)}"] if watched else []
    return _run(asked, edited(module, edits), module.name, lines, [*config, "CONSTRAINT WithinLimit"], which=True)


def kills_of_runs(asked: Asked, module: Module, edits: Mapping[int, Edit]) -> dict[int, str]:
    """Which edits have a run that violates a property of whole runs, found one after the other."""
    found: dict[int, str] = {}
    left = dict(edits)
    while asked.runs and left:
        lines = [f"Edits == {{{', '.join(map(str, [0, *left]))}}}"]
        try:
            run = _run(asked, edited(module, left), module.name, lines, [f"PROPERTIES {' '.join(asked.runs)}"], which=True)
        except TlcError as error:
            number = _at_fault(error)
            wrong = number if number in left else min(left) if len(left) == 1 else None
            if wrong is not None:
                found[wrong] = NO_VALUE
                del left[wrong]
                continue
            half = len(left) // 2
            parts = dict(list(left.items())[:half]), dict(list(left.items())[half:])
            return found | kills_of_runs(asked, module, parts[0]) | kills_of_runs(asked, module, parts[1])
        if run.result is Result.SUCCESS:
            break
        if run.result is Result.UNKNOWN:
            return found | dict.fromkeys(left, ENDLESS)
        number = run.trace[-1][WHICH]
        assert number != 0, f"{asked.model.name} without an edit: {asked.runs}"
        found[number] = " or ".join(asked.runs)
        del left[number]
    return found


def kill_alone(asked: Asked, module: Module, edit: Edit) -> str:
    """The property that finds an edit of a definition that must be a constant; nothing, as an empty text."""
    told = asked.model.configuration
    invariants = list(told.invariants)
    lines = [f'Within == TLCGet("distinct") <= {STATES_TIMES * asked.model.expected.total_states + STATES_MORE}']
    while True:
        config = [f"INVARIANTS {' '.join(invariants)}"] if invariants else []
        config += [f"PROPERTIES {' '.join(told.properties)}"] if told.properties else []
        try:
            run = _run(asked, edited_alone(module, edit), module.name, lines, [*config, "CONSTRAINT Within"], which=False)
            break
        except TlcError as error:
            if re.search(r"^Assumption .* is false", error.output, re.MULTILINE):
                return ASSUMPTION
            name = _property_at_fault(error)
            if name not in invariants:
                return NO_VALUE
            invariants.remove(name)
    if run.result is Result.SUCCESS:
        return "" if len(invariants) == len(told.invariants) else NO_VALUE
    if run.result is Result.UNKNOWN:
        return ENDLESS
    return {Result.DEADLOCK: DEADLOCK, Result.LIVENESS: " or ".join(asked.runs)}.get(run.result, run.broken)


def _run(asked: Asked, text: str, name: str, lines: Sequence[str], config: Sequence[str], *, which: bool) -> TlcRun:
    """A run of TLC with an edited module in the place of that of `specs/`."""
    model = asked.model.configuration
    head = [
        "---- MODULE Edits ----",
        f"EXTENDS {asked.model.module}",
        "LOCAL INSTANCE TLC",
        "LOCAL INSTANCE Integers",
        "LOCAL INSTANCE Sequences",
    ]
    if which:
        head += lines
        head += [f"EditsInit == {WHICH} \\in Edits /\\ {asked.init}", f"EditsNext == {asked.next} /\\ UNCHANGED {WHICH}"]
        head += [f"EditsSpec == EditsInit /\\ [][EditsNext]_<<{asked.variables}, {WHICH}>>{asked.fairness}"]
    else:
        head += lines
    stated = [f"SPECIFICATION {'EditsSpec' if which else model.spec}", "CONSTANTS"]
    stated += [f"  {constant} {value}" for constant, value in model.constants.items()]
    stated += [f"CONSTRAINT {model.constraint}"] if model.constraint else []
    stated += ["CHECK_DEADLOCK FALSE"] if which else []
    return run_generated(
        "Edits",
        "\n".join([*head, "====", ""]),
        "\n".join([*stated, *config, ""]),
        time_limit=TIME_LIMITS["small"],
        heap="1g",
        others={name: text},
    )
