"""Patterns of language that docstrings, comments, messages and pages avoid: `python -m tools.words` lists each place.

Exit code 1 where there is one. Docstrings begin with a subject, and one word stands for one thing. Names of variables are not
looked at.
"""

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tools.checkout import ROOT, tracked


@dataclass(frozen=True)
class Pattern:
    """Words that are avoided, and what to write instead. `docstring`: looked for only where docstrings begin. `tests`: tests are
    looked at, too."""

    text: re.Pattern[str]
    instead: str
    docstring: bool = False
    tests: bool = True


def _start(words: str, instead: str, *, tests: bool = True) -> Pattern:
    return Pattern(re.compile(rf"(?:{words})\b"), instead, docstring=True, tests=tests)


def _word(words: str, instead: str) -> Pattern:
    return Pattern(re.compile(rf"\b(?:{words})\b", re.IGNORECASE), instead)


#: patterns, the more special ones first
PATTERNS = (
    _start("By|Of", "name what is returned: `The cycle in which each row fires`"),
    _start("The same|Those|That|As", "name the thing: a first sentence stands alone"),
    _start("And|But|It|Its", "begin with a subject"),
    _start("What(?!-)|Who", "name the thing: `The contents of a place`, `The outcome of a task`", tests=False),
    _start(r"[A-Z]\w*Error (?:where|unless|for|with)", "begin with a verb: `Raise InputError where`"),
    _start("See", "say what is returned, then where more is said"),
    _word("so many", "N, or `this many`"),
    _word("judges?|judged", "checker, check"),
    _word("beside", "next to, compared with"),
    _word("makers?", "method, generator"),
    _word("whoever", "those who"),
)
SUFFIXES = (".py", ".md")
#: their texts are those of others, or name what they test
APART = ("CHANGELOG.md", "tools/words.py", "tests/tools/test_words.py")


def places(path: Path, text: str) -> Iterator[tuple[int, str, str]]:
    """The line, the words and what to write instead, for each place of a file of Python or Markdown."""
    if path.suffix == ".py":
        yield from _docstrings(text, is_test=path.parts[:1] == ("tests",))
        spoken = _spoken(text)
    else:
        spoken = _prose(text)
    for line, words in spoken:
        for pattern in PATTERNS:
            if not pattern.docstring and (found := pattern.text.search(words)):
                yield line, found[0], pattern.instead


def _docstrings(text: str, *, is_test: bool) -> Iterator[tuple[int, str, str]]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and (
            words := ast.get_docstring(node)
        ):
            for pattern in PATTERNS:
                if pattern.docstring and (pattern.tests or not is_test) and (found := pattern.text.match(words)):
                    yield node.body[0].lineno, f"a docstring begins with {found[0]!r}", pattern.instead


def _spoken(text: str) -> Iterator[tuple[int, str]]:
    """The lines of comments and texts of a module."""
    parts = {tokenize.COMMENT, tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.COMMENT)}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in parts:
            for number, line in enumerate(token.string.splitlines()):
                yield token.start[0] + number, line


def _prose(text: str) -> Iterator[tuple[int, str]]:
    """The lines of a page outside its blocks of code."""
    inside = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            inside = not inside
        elif not inside:
            yield number, line


def main() -> int:
    """Print each place of the checkout; 1 where there is one."""
    count = 0
    for path in tracked():
        if path.suffix in SUFFIXES and str(path) not in APART:
            for line, words, instead in places(path, (ROOT / path).read_text(encoding="utf-8")):
                print(f"{path}:{line}: {words}: {instead}")
                count += 1
    return int(count > 0)


if __name__ == "__main__":
    sys.exit(main())
