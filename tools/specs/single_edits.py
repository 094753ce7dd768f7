"""The single edits of a definition: a conjunct dropped, off by one, a wrong variable, another operator, an update left out.

Edits are made in the text; the columns of what stays are kept, because TLA+ reads lists of conjuncts by their columns.
"""

import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from tools.specs.definitions import Definition, Module

SEED = 1
#: the most edits of one definition
PER_DEFINITION = 2

_OPERATORS = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "+": "-", "-": "+", "#": "=", r"\A": r"\E", r"\E": r"\A",
    r"\notin": r"\in", r"\union": r"\intersect", "TRUE": "FALSE", "FALSE": "TRUE",
}  # fmt: skip
_TOKEN = re.compile(r'"[^"]*"|\\[a-zA-Z]+|\w+::|\w+|<<|>>|<=>|=>|<-|->|\|->|:>|<=|>=|/\\|\\/|==|\S')
_BULLET = re.compile(r"^([ ]*)(/\\|\\/) (?:\w+::[ ]*)?", re.MULTILINE)
_BOUND = re.compile(r"(?:\\[AE]|CHOOSE|[{\[,])\s*\w+(?:, \w+)*\s*$")
_IF = re.compile(r"\bIF (?:(?!\bIF\b|\bTHEN\b).)+? THEN\b")
# Names of parameters and bound variables, in groups of one kind.
_ALIKE = (
    ("u", "v"),
    ("m", "other"),
    ("k", "j"),
    ("k", "h"),
    ("a", "b"),
    ("x", "y"),
    ("i", "j"),
    ("src", "dst"),
    ("peer", "n"),
    ("c", "s"),
)
_UPDATE = re.compile(r"(\w+)' = ")


@dataclass(frozen=True)
class Edit:
    """One changed definition: `before` and `after` are the line that differs (of several, the first), without indentation."""

    module: str
    definition: str
    kind: str
    before: str
    after: str
    body: str

    @property
    def key(self) -> tuple[str, str, str, str]:
        """The key of the edit in `specs/edits.toml`."""
        return (self.module, self.definition, self.before, self.after)


def edits_of(module: Module, definitions: Iterable[str], most: int = PER_DEFINITION, seed: int = SEED) -> list[Edit]:
    """At most `most` edits of each of the definitions, picked by the seed, in the order of the text."""
    found = []
    for name in (name for name in module.definitions if name in set(definitions)):
        candidates = list(dict.fromkeys(_candidates(module, module.definitions[name])))
        chosen = _each_kind_in_turn(candidates, random.Random(f"{seed} {module.name} {name}"))[:most]
        found += [edit for edit in candidates if edit in chosen]
    return found


def _each_kind_in_turn(candidates: Sequence[Edit], picks: random.Random) -> list[Edit]:
    """The edits in random order, of each kind one before the second of any."""
    kinds: dict[str, list[Edit]] = {}
    for edit in candidates:
        kinds.setdefault(edit.kind, []).append(edit)
    for edits in kinds.values():
        picks.shuffle(edits)
    names = sorted(kinds)
    picks.shuffle(names)
    longest = max(map(len, kinds.values()), default=0)
    return [kinds[name][place] for place in range(longest) for name in names if place < len(kinds[name])]


def _candidates(module: Module, definition: Definition) -> Iterator[Edit]:
    for kind, start, end, text in _replacements(module, definition):
        if edit := edit_of(module.name, definition, kind, start, end, text):
            yield edit


def edit_of(module: str, definition: Definition, kind: str, start: int, end: int, text: str) -> Edit | None:
    """The edit that puts a text in the place of a part of a definition's body; None where that changes nothing."""
    body = definition.body
    changed = body[:start] + text + body[end:]
    old, new = body.splitlines(), changed.splitlines()
    at = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), None)
    if at is None:
        return None
    return Edit(module, definition.name, kind, " ".join(old[at].split()), " ".join(new[at].split()), changed)


def _replacements(module: Module, definition: Definition) -> Iterator[tuple[str, int, int, str]]:
    """The kind of each edit, and which part of the body gives way to what."""
    body = definition.body
    parts = _parts(body)
    # Where the empty tuple stands, `guard_edits` drops all conjuncts; here none, so that the seed picks what it always has.
    if not (definition.is_temporal or definition.has_empty_tuple):
        yield from _dropped(body, parts, is_start=definition.name.endswith("Init"))
    yield from _other_operators(definition, parts)
    yield from _other_names(module, definition)


def _parts(body: str) -> list[tuple[int, int, str]]:
    """The items of lists of conjuncts and disjuncts: start and end behind bullet and label, and the bullet. Without a list, all."""
    bullets = list(_BULLET.finditer(body))
    found = []
    for bullet in bullets:
        column = len(bullet[1])
        end = len(body)
        for line in re.finditer(r"^([ ]*)\S", body[bullet.end() :], re.MULTILINE):
            if line.start() > 0 and len(line[1]) <= column:
                end = bullet.end() + line.start() - 1
                break
        found.append((bullet.end(), end, bullet[2]))
    return found or [(0, len(body), "")]


def _dropped(body: str, parts: Sequence[tuple[int, int, str]], *, is_start: bool) -> Iterator[tuple[str, int, int, str]]:
    """Conjuncts, disjuncts and updates that are left out."""
    for start, end, bullet in parts:
        text = body[start:end]
        if update := _UPDATE.match(text):
            yield "update left out", start, end, f"{update[1]}' = {update[1]}" + "\n" * text.count("\n")
            continue
        is_about_the_next = "'" in text or "UNCHANGED" in text
        if bullet == "\\/":
            yield "disjunct dropped", start, end, "FALSE"
        elif bullet and not is_about_the_next and not is_start:
            yield "conjunct dropped", start, end, "TRUE"
        inline = list(re.finditer(r" (/\\|\\/) ", text))
        is_plain = not re.search(r"\b(IF|LET|CASE|OTHER)\b|->|:>|=>", text) and "\n" not in text.strip()
        if len(inline) == 1 and is_plain and not is_about_the_next and not is_start:
            left, right = text[: inline[0].start()], text[inline[0].end() :]
            place = start + inline[0].start()
            yield "other operator", place + 1, place + 3, "\\/" if inline[0][1] == "/\\" else "/\\"
            if _is_balanced(right):
                yield "conjunct dropped", place, end, ""
                if _is_balanced(left) and ":" not in left:
                    lead = len(left) - len(left.lstrip())
                    yield "conjunct dropped", start + lead, start + inline[0].end(), ""


def _is_balanced(text: str) -> bool:
    return all(text.count(a) == text.count(b) for a, b in ("()", "[]", "{}"))


def _other_operators(definition: Definition, parts: Sequence[tuple[int, int, str]]) -> Iterator[tuple[str, int, int, str]]:
    """Numbers one more or less, operators that mean something else, conditions the other way round, weak fairness for strong."""
    body = definition.body
    is_start = definition.name.endswith("Init")
    for token in _TOKEN.finditer(body):
        text, (start, end) = token[0], token.span()
        line = body[body.rfind("\n", 0, start) + 1 : start]
        if text.isdigit():
            if body[start - 1] == "[" and body[end : end + 1] == "]":
                continue  # a field of a tuple
            yield "off by one", start, end, str(int(text) + 1)
            if int(text) > 0:
                yield "off by one", start, end, str(int(text) - 1)
        elif text in _OPERATORS and not (text == "-" and body[end : end + 1] in ">."):
            if text in ("+", "-") and (body[max(start - 1, 0)] != " " or body[end : end + 1] != " "):
                continue
            yield "other operator", start, end, _OPERATORS[text]
        elif text == "=" and not (is_start or "EXCEPT" in line or line.rstrip().endswith("'")):
            yield "other operator", start, end, "#"
        elif text == r"\in" and not (_BOUND.search(line) or is_start):
            yield "other operator", start, end, r"\notin"
        elif text.startswith("SF_"):
            yield "fairness weakened", start, end, "W" + text[1:]
    for condition in _IF.finditer(body):
        yield "other operator", condition.start(), condition.end(), f"IF ~({condition[0][3:-5]}) THEN"


def _other_names(module: Module, definition: Definition) -> Iterator[tuple[str, int, int, str]]:
    """One variable, parameter, constant or definition in the place of another of its kind."""
    body = definition.body
    for group in _groups(module, definition):
        for token in re.finditer(r"(?<![.\w!])[A-Za-z]\w*\b(?!::|')", body):
            line = body[body.rfind("\n", 0, token.start()) + 1 : token.start()]
            rest = body[token.end() : token.end() + 5]
            is_bound = re.match(r" (==|\\in|\|->|=)|[,:]", rest) and _BOUND.search(line + token[0])
            if token[0] not in group or is_bound:
                continue
            if definition.name.endswith("Init") and re.match(r" (=|\\in)", rest):
                continue
            yield from (("wrong variable", *token.span(), other) for other in group if other != token[0])


def _groups(module: Module, definition: Definition) -> list[list[str]]:
    """Names of one kind: variables that start as functions of the same things to the same kind of value, constants with the same
    last word, and names of parameters and bound variables that are always of one kind."""
    starts: dict[tuple[str, str], list[str]] = {}
    first = module.definitions.get("Init")
    for match in re.finditer(r"/\\ (\w+) = (\[.*) \|-> ([^|\n]*)$", first.body if first else "", re.MULTILINE):
        starts.setdefault((match[2], match[3].replace("Depth", "0")), []).append(match[1])
    words: dict[str, list[str]] = {}
    for name in module.constants:
        words.setdefault(re.findall(r"[A-Z][a-z]*", name)[-1] if name[0].isupper() else name, []).append(name)
    named = [[name for name in pair if re.search(rf"(?<![.\w]){name}\b", _scope(definition))] for pair in _ALIKE]
    return [group for group in (*starts.values(), *words.values(), *named) if len(group) > 1]


def _scope(definition: Definition) -> str:
    return " ".join((*definition.parameters, definition.body))
