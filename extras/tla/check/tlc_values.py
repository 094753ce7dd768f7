"""Parser of TLC's notation of values."""

import re
from typing import Any

_TOKEN = re.compile(r'\s*(<<|>>|\|->|:>|@@|-?\d+|"(?:[^"\\]|\\.)*"|[A-Za-z_]\w*|[{}\[\](),])')


def parse_value(text: str) -> Any:
    """The value that TLC printed: int, bool, str; a set as frozenset; a sequence as tuple; records and functions as dict.

    Functions and records inside sets, and as arguments of functions, are tuples of sorted (key, value) pairs: these must hash.
    Raises ValueError for anything else.
    """
    reader = _Reader(text)
    value = reader.value()
    reader.end()
    return value


class _Reader:
    """Recursive descent over the tokens; functions are `(k :> v @@ ...)`, records `[f |-> v, ...]`."""

    def __init__(self, text: str) -> None:
        self._tokens = _tokens(text)
        self._place = 0

    def _next(self) -> str:
        token = self._peek()
        self._place += 1
        return token

    def _peek(self) -> str:
        return self._tokens[self._place] if self._place < len(self._tokens) else ""

    def _expect(self, token: str) -> None:
        found = self._next()
        if found != token:
            raise ValueError(f"expected {token} in a TLC value, found {found or 'its end'}")

    def end(self) -> None:
        """Raise ValueError if text is left."""
        if self._peek():
            raise ValueError(f"{self._peek()} after the end of a TLC value")

    def value(self) -> Any:
        token = self._next()
        if token == "<<":
            return tuple(self._list(">>"))
        if token == "{":
            return frozenset(_hashable(member) for member in self._list("}"))
        if token == "[":
            return self._pairs("|->", ",", "]")
        if token == "(":
            return self._pairs(":>", "@@", ")")
        if token in ("TRUE", "FALSE"):
            return token == "TRUE"
        if token.startswith('"'):
            return token[1:-1]
        if re.fullmatch(r"-?\d+", token):
            return int(token)
        raise ValueError(f"a TLC value cannot begin with {token or 'nothing'}")

    def _list(self, close: str) -> list[Any]:
        members: list[Any] = []
        while self._peek() != close:
            if members:
                self._expect(",")
            members.append(self.value())
        self._expect(close)
        return members

    def _pairs(self, arrow: str, separator: str, close: str) -> dict[Any, Any]:
        pairs: dict[Any, Any] = {}
        while self._peek() != close:
            if pairs:
                self._expect(separator)
            key = self._next() if arrow == "|->" else _hashable(self.value())
            self._expect(arrow)
            pairs[key] = self.value()
        self._expect(close)
        return pairs


def _tokens(text: str) -> list[str]:
    tokens, place, end = [], 0, len(text.rstrip())
    while place < end:
        match = _TOKEN.match(text, place)
        if match is None:
            raise ValueError(f"not a TLC value: {text[place : place + 40]!r}")
        tokens.append(match[1])
        place = match.end()
    return tokens


def _hashable(value: Any) -> Any:
    if isinstance(value, dict):
        return tuple(sorted((key, _hashable(member)) for key, member in value.items()))
    if isinstance(value, tuple):
        return tuple(_hashable(member) for member in value)
    return value
