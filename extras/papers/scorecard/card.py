"""Lines of the scorecard and what is found for each: cells of a target, a check, or neither, with the reason."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from fractions import Fraction
from importlib.resources import files
from typing import Any

from certree.extras.papers.scorecard.check import load_checks, shown
from certree.models.common.errors import InputError
from certree.models.common.fields import Fields
from certree.models.common.presets import parse_toml

PAPERS = {
    "multitree": "MultiTree (ISCA 2021)",
    "gentree": "GenModel and GenTree",
    "netreduce": "NetReduce, appendices",
    "switchfc": "switch-fc",
    "ace": "ACE (arXiv 2007.00156)",
}
KINDS = ("figure", "table", "equation", "algorithm", "theorem", "claim")

#: the document of `certree reproduce NAME --json` for a target, or None where it has not been run
Results = Callable[[str], Mapping[str, Any] | None]


class Verdict(StrEnum):
    """The result for a line of the scorecard."""

    AGREES = "agrees"
    PARTLY = "partly"
    DIFFERS = "differs"
    SHOWN = "shown"  # a figure without numbers, which a command draws or writes
    NOT_COMPUTED = "not computed"
    NOT_RUN = "not run"  # a target without results


@dataclass(frozen=True)
class Line:
    """A figure, table, equation, algorithm, theorem or claim of a paper: `place` in it and `what` it says.

    One of `target` (with patterns of what its statements say, all by default), `check`, `command` (which shows it), and `missing`
    (why nothing computes it) is given. `why`: the reason of a difference; by default the first note of the target.
    """

    place: str
    kind: str
    what: str
    target: str | None = None
    says: tuple[str, ...] = ("*",)
    check: str | None = None
    command: str | None = None
    missing: str | None = None
    why: str | None = None


@dataclass(frozen=True)
class Entry:
    """A line with its verdict, the numbers behind it in words, the command that computes them, and why they differ, if they do."""

    line: Line
    verdict: Verdict
    numbers: str
    command: str
    reason: str = ""


def lines(paper: str) -> list[Line]:
    """The lines of a paper in the order of its file; InputError says what is wrong in it."""
    where = f"scorecard/lines/{paper}.toml"
    data = (files("certree.extras.papers.scorecard") / "lines" / f"{paper}.toml").read_bytes()
    fields = Fields(parse_toml(data, where), where)
    found = list(fields.each("line", _line))
    fields.done()
    return found


def _line(fields: Fields) -> Line:
    texts = {name: fields.text(name) for name in ("place", "kind", "what")}
    given = {
        name: " ".join(fields.text(name).split()) for name in ("target", "check", "command", "missing", "why") if name in fields
    }
    says = fields.text_or_texts("says") if "says" in fields else ("*",)
    line = Line(**texts, **given, says=says)
    if line.kind not in KINDS:
        raise InputError(f"scorecard: {line.place}: kind {line.kind!r}; allowed: {', '.join(KINDS)}")
    if len(given.keys() & {"target", "check", "command", "missing"}) != 1:
        raise InputError(f"scorecard: {line.place}: {line.what!r} needs one of target, check, command and missing")
    return line


def entries(paper: str, results: Results) -> Iterator[Entry]:
    """The result for each line of a paper."""
    for line in lines(paper):
        if line.target is not None:
            document = results(line.target)
            yield _not_run(line) if document is None else _of_target(line, document["cells"])
        elif line.check is not None:
            yield _of_check(line)
        elif line.command is not None:
            yield Entry(line, Verdict.SHOWN, "", line.command)
        else:
            yield Entry(line, Verdict.NOT_COMPUTED, "", "", str(line.missing))


def _not_run(line: Line) -> Entry:
    return Entry(line, Verdict.NOT_RUN, "", f"certree reproduce {line.target}")


def _of_check(line: Line) -> Entry:
    found = load_checks()[str(line.check)]()
    numbers = str(found[0]) if len(found) == 1 else f"{sum(one.agrees for one in found)} of {len(found)}"
    if len(found) > 1 and (wrong := [str(one) for one in found if not one.agrees]):
        numbers += "; " + "; ".join(wrong)
    verdict = verdict_of([one.agrees for one in found])
    return Entry(line, verdict, numbers, f"check {line.check}", "" if verdict is Verdict.AGREES else line.why or "")


def _of_target(line: Line, cells: Sequence[Mapping[str, Any]]) -> Entry:
    stated = [
        cell for cell in cells if cell["agrees"] is not None and any(fnmatchcase(cell["says"], pattern) for pattern in line.says)
    ]
    if not stated:
        raise InputError(f"scorecard: {line.place}: no cell of {line.target} says {' or '.join(line.says)}")
    predicted = [cell for cell in stated if not cell["fitted"]]
    verdict = verdict_of([bool(cell["agrees"]) for cell in predicted or stated])
    notes = [cell["why"] for cell in stated if not cell["agrees"] and cell.get("why")]
    reason = line.why or next((f"{note.partition('. ')[0].rstrip('.')}." for note in notes), "")
    reason = "" if verdict is Verdict.AGREES else reason
    return Entry(line, verdict, _numbers(stated), f"certree reproduce {line.target}", reason)


def verdict_of(agrees: Sequence[bool]) -> Verdict:
    """Whether all numbers agree, some, or none."""
    if all(agrees):
        return Verdict.AGREES
    return Verdict.PARTLY if any(agrees) else Verdict.DIFFERS


def _numbers(stated: Sequence[Mapping[str, Any]]) -> str:
    """A single cell with the paper's value; of several how many agree, fitted ones apart, and the largest difference among
    those that do not agree."""
    if len(stated) == 1:
        (cell,) = stated
        return f"{_number(cell['ours'])} ({'fitted, ' * cell['fitted']}paper {_number(cell['paper'])})"
    predicted, fitted = ([bool(cell["agrees"]) for cell in stated if cell["fitted"] == known] for known in (False, True))
    counts = ((predicted, ""), (fitted, " fitted"))
    words = " and ".join(f"{sum(agrees)} of {len(agrees)}{word}" for agrees, word in counts if agrees)
    off = [abs(Fraction(cell["difference"])) for cell in stated if not cell["agrees"] and cell["difference"] is not None]
    return f"{words}; off by at most {shown(round(100 * max(off), 1))} %" if off else words


def _number(text: str) -> str:
    try:
        return shown(Fraction(text))
    except ValueError:
        return text
