"""Every edit of three kinds: a conjunct of a guard left out, a fairness weakened, an initial value replaced by its neighbour.

Unlike those of `single_edits` these are all that there are, none is picked by chance. Updates left out are a fourth kind: a step
without one of its effects. A conjunct is an item of a list or a side of `/\\`, in any definition that steps use, that says nothing
about the next state; the neighbours of a number are the numbers next to it. The survey asks about those of steps.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

from tools.specs.definitions import Definition, Module
from tools.specs.single_edits import Edit, edit_of

DROPPED, LEFT_OUT, WEAKENED, NEIGHBOUR = "conjunct dropped", "update left out", "fairness weakened", "initial neighbour"
_TOKEN = re.compile(r'"[^"]*"|\\[a-zA-Z]+|\w+::|\w+|<<|>>|<=>|=>|<-|->|\|->|:>|\[\]|<=|>=|/\\|\\/|==|\.\.|\S')
_OPEN, _CLOSE = frozenset(("(", "[", "{", "<<")), frozenset((")", "]", "}", ">>"))
# What ends an operand of a conjunction, and what begins one that goes on as far as it can.
_ENDS = frozenset(("=>", "<=>", "\\/", "/\\", ",", "THEN", "ELSE", "IN", "IF", "->", "|->", ":>", "[]", "==", ":", "CASE", "LET"))
_FAR = frozenset((r"\A", r"\E", "CHOOSE", "LET", "IF", "CASE"))
_NEXT = re.compile(r"\w'|\bUNCHANGED\b")
_UPDATE = re.compile(r"(\w+)' = ")
_FAIR = re.compile(r"\b([SW])F_(\w+)\(")
_WORD = re.compile(r"\b[A-Za-z]\w*\b")
_NUMBER = re.compile(r"(?<![\w.])(?!(?<=\[)\d+\])\d+\b")  # none that is an index, such as ![0]

_EACH_VC = r"[c \in Channels |-> [v \in VCs |->"
#: what may stand in initial states instead, next to the numbers
NEIGHBOURS: Mapping[str, Mapping[str, Sequence[str]]] = {
    "AllReduce": {
        "SUBSET {due \\in Due : IsAlone(due)}": ["SUBSET Due", "{{}}", "{{due \\in Due : IsAlone(due)}}"],
        "ELSE <<>>": ["ELSE Outcome(due)"],
    },
    "NILockstep": {
        "THEN {}": ["THEN {n}"], "{n} \\intersect Contributors[place[1]]": ["{n}", "{}"],
        "MaxSkewTicks": ["MaxSkewTicks + 1"], "-MaxDriftTicks": ["-MaxDriftTicks - 1"],
    },
    "SubPacketFlow": {
        "Nobody": ["(CHOOSE w \\in Worms : TRUE)"], "Depth": ["Depth + 1", "Depth - 1"],
        "arrived = {}": ["arrived = {CHOOSE w \\in Worms : TRUE}"],
        f"last = {_EACH_VC} <<>>]]": [f"last = {_EACH_VC} <<CHOOSE w \\in Worms : TRUE, 1>>]]"],
        f"buffer = {_EACH_VC} <<>>]]": [f"buffer = {_EACH_VC} << <<CHOOSE w \\in Worms : TRUE, 1>> >>]]"],
        "[w \\in Worms |-> <<>>]": ["[w \\in Worms |-> <<1>>]"],
    },
    "ScheduleBuffers": {
        "{n} \\intersect Contributors[cell[1]]": ["{n}", "{}"], "ELSE Nothing": ["ELSE OnceEach({n})"],
        "Transfers |-> Nothing": ["Transfers |-> OnceEach({t.src})"],
        "sent = {}": ["sent = Transfers"], "done = {}": ["done = Transfers"],
    },
    "BankSwitch": {"fired = {}": ["fired = Nodes"], "NoImage": ["1"], "reported = {}": ["reported = Nodes"]},
    "AceEngine": {
        "[m \\in Machines |-> <<>>]": ["[m \\in Machines |-> <<CHOOSE c \\in Chunks : TRUE>>]"],
        "[c \\in Chunks |-> {}]": ["[c \\in Chunks |-> {<<n, 1>>}]"],
    },
    "InNetworkReduce": {
        "[q \\in Numbers |-> <<>>]": ["[q \\in Numbers |-> <<OnceEach(q)>>]"],
        "flying = {}": ["flying = {Up(h, 0, One(h, 0)) : h \\in Hosts}"],
    },
}  # fmt: skip


@dataclass(frozen=True)
class _Token:
    text: str
    start: int
    end: int
    column: int
    is_first: bool  # on its line


def guard_edits_of(
    module: Module, definitions: Iterable[str], actions: Set[str], neighbours: Mapping[str, Sequence[str]]
) -> list[Edit]:
    """All edits of these kinds of the named definitions, in the order of the text.

    `actions`: the names of definitions that say something about the next state (`actions_of`). `neighbours`: for parts of the text
    of initial states what may stand there instead.
    """
    chosen = set(definitions)
    found: list[Edit] = []
    for definition in (told for name, told in module.definitions.items() if name in chosen):
        for kind, start, end, text in _replacements(definition, actions, neighbours):
            edit = edit_of(module.name, definition, kind, start, end, text)
            if edit is not None:
                found.append(edit)
    return list({edit.body: edit for edit in reversed(found)}.values())[::-1]


def actions_of(modules: Iterable[Module]) -> set[str]:
    """The names of definitions that say something about the next state, directly or by others."""
    bodies = {name: definition.body for module in modules for name, definition in module.definitions.items()}
    found = {name for name, body in bodies.items() if _NEXT.search(body)}
    while new := {name for name, body in bodies.items() if name not in found and found & set(_WORD.findall(body))}:
        found |= new
    return found


def _replacements(
    definition: Definition, actions: Set[str], neighbours: Mapping[str, Sequence[str]]
) -> Iterator[tuple[str, int, int, str]]:
    body = definition.body
    if definition.is_temporal:
        yield from _weaker(body)
    elif definition.name.endswith("Init"):
        yield from _next_to(body, neighbours)
    else:
        for start, end in conjuncts_of(definition):
            text = body[start:end]
            if update := _UPDATE.match(text):
                kept = f"{update[1]}' = {update[1]}"
                yield LEFT_OUT, start, end, kept.ljust(len(text)) if "\n" not in text else kept
            elif not (_NEXT.search(text) or actions & set(_WORD.findall(text))):
                yield DROPPED, start, end, "TRUE".ljust(len(text)) if "\n" not in text else "TRUE"


def _weaker(body: str) -> Iterator[tuple[str, int, int, str]]:
    """Weak fairness for strong, and none for each."""
    for match in _FAIR.finditer(body):
        if match[1] == "S":
            yield WEAKENED, match.start(), match.start() + 1, "W"
        depth, end = 1, match.end()
        while depth:
            depth += {"(": 1, ")": -1}.get(body[end], 0)
            end += 1
        yield WEAKENED, match.start(), end, "TRUE"


def _next_to(body: str, neighbours: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, int, int, str]]:
    for number in _NUMBER.finditer(body):
        for other in (int(number[0]) + 1, int(number[0]) - 1):
            yield NEIGHBOUR, *number.span(), str(other) if other >= 0 else f"({other})"
    for part, others in neighbours.items():
        for match in re.finditer(re.escape(part), body):
            yield from ((NEIGHBOUR, *match.span(), other) for other in others)


def conjuncts_of(definition: Definition) -> list[tuple[int, int]]:
    """Where the conjuncts of a definition are in its body: items of lists, without their labels, and sides of `/\\`."""
    tokens = _tokens(definition)
    found = []
    for at, token in enumerate(tokens):
        if token.text != "/\\":
            continue
        if _begins_item(tokens, at):
            found.append(_item(tokens, at))
        else:
            found += [_before(tokens, at), _behind(tokens, at)]
    return sorted({(start, end) for start, end in found if start < end})


def _tokens(definition: Definition) -> list[_Token]:
    body = definition.body
    found = []
    for match in _TOKEN.finditer(body):
        line = body.rfind("\n", 0, match.start()) + 1
        shift = definition.column if line == 0 else 0
        is_first = line > 0 and not body[line : match.start()].strip()
        found.append(_Token(match[0], match.start(), match.end(), match.start() - line + shift, is_first))
    return found


def _begins_item(tokens: Sequence[_Token], at: int) -> bool:
    """Whether a `/\\` or `\\/` is the bullet of a list: nothing stands before it that it could join."""
    before = tokens[at - 1].text if at else "=="
    return tokens[at].is_first or before in _ENDS or before in _OPEN or before in ("=", "~") or before.endswith("::")


def _item(tokens: Sequence[_Token], at: int) -> tuple[int, int]:
    """From behind the bullet and its label up to what is no deeper, or closes a bracket around it."""
    depth, last = 0, at
    for place in range(at + 1, len(tokens)):
        token = tokens[place]
        depth += (token.text in _OPEN) - (token.text in _CLOSE)
        if depth < 0 or (token.is_first and token.column <= tokens[at].column):
            break
        last = place
    first = at + 2 if at + 1 < len(tokens) and tokens[at + 1].text.endswith("::") else at + 1
    return (tokens[first].start, tokens[last].end) if first <= last else (0, 0)


def _before(tokens: Sequence[_Token], at: int) -> tuple[int, int]:
    depth, first = 0, at
    for place in range(at - 1, -1, -1):
        text = tokens[place].text
        depth += (text in _CLOSE) - (text in _OPEN)
        if depth < 0 or (depth == 0 and (text in _ENDS or text.endswith("::"))):
            break
        first = place
    return tokens[first].start, tokens[at - 1].end


def _behind(tokens: Sequence[_Token], at: int) -> tuple[int, int]:
    depth, last, is_far = 0, at, False
    for place in range(at + 1, len(tokens)):
        token = tokens[place]
        is_list = token.text in ("/\\", "\\/") and token.is_first
        is_far = is_far or (depth == 0 and token.text in _FAR)
        ends = token.text in ("THEN", "ELSE", "IN") if is_far else token.text in _ENDS
        is_over = is_list or _is_defined(tokens, place) or (ends and not (is_far and _is_inside(tokens, at, place)))
        depth += (token.text in _OPEN) - (token.text in _CLOSE)
        if depth < 0 or (depth == 0 and is_over):
            break
        last = place
    return tokens[at + 1].start, tokens[last].end


def _is_defined(tokens: Sequence[_Token], place: int) -> bool:
    """Whether a line of a LET begins here with the name of its next definition."""
    behind = place + 1
    if tokens[place].is_first and behind < len(tokens) and tokens[behind].text == "(":
        behind = next((at for at in range(behind, len(tokens)) if tokens[at].text == ")"), len(tokens)) + 1
    return tokens[place].is_first and behind < len(tokens) and tokens[behind].text == "=="


def _is_inside(tokens: Sequence[_Token], at: int, place: int) -> bool:
    """Whether a word of an `IF` or `LET` belongs to one that begins behind the conjunction."""
    words = [token.text for token in tokens[at + 1 : place]]
    return (
        words.count("IF") > words.count("ELSE")
        if tokens[place].text in ("THEN", "ELSE")
        else words.count("LET") > words.count("IN")
    )
