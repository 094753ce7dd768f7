"""Which property refutes which mutant: every model that must fail, put to all the properties of its module.

Invariants are checked in one run, where each prints its name instead of ending the run; the other properties in a run each.
"""

import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from certree.verify.models import TIME_LIMITS, in_parallel, load_manifest, specs_folder
from certree.verify.tlc import Result, TlcError, TlcRun, run_tlc

KILLED, SURVIVED, NO_ANSWER = "x", "", "?"
# What means nothing in a paced run, which knows no slots.
_SLOTTED = ("NoLateRow", "SlottedInvariant")
_LISTS = re.compile(r"^(INVARIANTS|PROPERTIES) (.*)$", re.MULTILINE)

Model = Mapping[str, Any]


def properties_of(name: str) -> tuple[list[str], list[str]]:
    """Invariants and other properties of a model, in the order of its configuration."""
    found: dict[str, list[str]] = {"INVARIANTS": [], "PROPERTIES": []}
    for kind, names in _LISTS.findall(_configuration(name)):
        found[kind] += names.split()
    return found["INVARIANTS"], found["PROPERTIES"]


def kill_table(report: Callable[[str], None] | None = None) -> str:
    """Markdown: for each family of modules a line for each mutant and a column for each property that holds somewhere.

    `x`: the property refutes the mutant; `?`: TLC cannot evaluate the property there. Some minutes. `report` is told each mutant.
    """
    models = load_manifest()
    families: dict[str, list[Model]] = {}
    for model in models:
        families.setdefault(model["module"].removesuffix("Faults"), []).append(model)
    parts = []
    for family, members in families.items():
        columns = _columns(members)
        mutants = [model for model in members if model["expected"] != Result.SUCCESS]
        parts.append(_table(family, columns, mutants, _rows(mutants, columns, report)))
    return "\n".join(parts)


def _columns(models: Sequence[Model]) -> tuple[list[str], list[str]]:
    """Invariants and other properties that hold in some model, each once."""
    held = [properties_of(model["name"]) for model in models if model["expected"] == Result.SUCCESS]
    invariants = dict.fromkeys(name for names, _ in held for name in names)
    return list(invariants), list(dict.fromkeys(name for _, names in held for name in names))


def _rows(mutants: Sequence[Model], columns: tuple[list[str], list[str]], report: Callable[[str], None] | None) -> list[list[str]]:
    def tell(named: tuple[str, list[str]]) -> None:
        if report is not None:
            report(f"{named[0]}: {named[1].count(KILLED)} properties refute it")

    return [row for _, row in in_parallel(lambda mutant: (mutant["name"], _row(mutant, *columns)), mutants, tell)]


def _row(mutant: Model, invariants: Sequence[str], properties: Sequence[str]) -> list[str]:
    means_nothing = _SLOTTED if 'Run = "paced"' in _configuration(mutant["name"]) else ()
    asked = [name for name in invariants if name not in means_nothing]
    killers = _breaking(mutant, asked)
    cells = [KILLED if name in killers else SURVIVED for name in invariants]
    return cells + [_verdict(mutant, name) for name in properties]


def _breaking(mutant: Model, invariants: Sequence[str]) -> frozenset[str]:
    """The invariants that some state breaks."""
    watched = [f'Watched{name} == {name} \\/ PrintT("{name}")' for name in invariants]
    lines = ["CHECK_DEADLOCK FALSE", "INVARIANTS " + " ".join(f"Watched{name}" for name in invariants)]
    try:
        return _run(mutant, ["LOCAL INSTANCE TLC", *watched], lines).printed
    except TlcError:  # beyond the first wrong state some properties have no value: ask one by one
        return frozenset(name for name in invariants if _verdict(mutant, name, "INVARIANTS") == KILLED)


def _verdict(mutant: Model, name: str, kind: str = "PROPERTIES") -> str:
    try:
        run = _run(mutant, [], [f"{kind} {name}"])
    except TlcError:
        return NO_ANSWER
    if run.result is Result.DEADLOCK:  # the end of every run, and so what liveness is about
        return KILLED if name.startswith(("Every", "Ends")) else SURVIVED
    return SURVIVED if run.result is Result.SUCCESS else NO_ANSWER if run.result is Result.UNKNOWN else KILLED


def _run(mutant: Model, definitions: Sequence[str], lines: Sequence[str]) -> TlcRun:
    with tempfile.TemporaryDirectory(prefix="certree-kills-") as folder:
        module, config = Path(folder) / "Kills.tla", Path(folder) / "Kills.cfg"
        module.write_text("\n".join(["---- MODULE Kills ----", f"EXTENDS {mutant['module']}", *definitions, "====", ""]))
        config.write_text(_LISTS.sub("", _configuration(mutant["name"])) + "\n".join(lines) + "\n")
        return run_tlc(module, config, specs_folder(), time_limit=TIME_LIMITS["small"])


def _configuration(name: str) -> str:
    return (specs_folder() / "models" / f"{name}.cfg").read_text()


def _table(family: str, columns: tuple[list[str], list[str]], mutants: Sequence[Model], rows: Sequence[Sequence[str]]) -> str:
    names = [*columns[0], *columns[1]]
    lines = [f"## {family}", "", "| mutant | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    lines += [
        f"| {mutant['name'].removeprefix(family)} | " + " | ".join(row) + " |" for mutant, row in zip(mutants, rows, strict=True)
    ]
    return "\n".join(lines) + "\n"
