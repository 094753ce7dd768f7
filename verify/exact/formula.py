"""Formulas in conjunctive normal form with tables of named variables, and their DIMACS form."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from types import MappingProxyType

from certree.models.common.files import sha256

#: variables of one family, keyed by indices; an index that does not exist raises KeyError
Family = Mapping[tuple[int, ...], int]


@dataclass(frozen=True)
class Counter:
    """A counter of a formula: the literals it counts, its variables, those of them for the complete count, and the numbers of the
    clauses that define them."""

    literals: tuple[int, ...]
    variables: range
    totals: tuple[int, ...]
    clauses: range


class Formula:
    """Clauses over variables 1, 2, ...; a literal is a variable or its negation, minus the variable."""

    def __init__(self) -> None:
        self.variables = 0
        self.clauses: list[tuple[int, ...]] = []
        self.counters: list[Counter] = []
        self.notes: list[str] = []

    def family(self, name: str, purpose: str, *ranges: Sequence[int]) -> Family:
        """Fresh consecutive variables for every combination of indices, in a table that cannot grow."""
        first = self.variables + 1
        table = {key: first + offset for offset, key in enumerate(product(*ranges))}
        self.variables += len(table)
        self.notes.append(f"{name}[...]: variables {first} to {self.variables}: {purpose}")
        return MappingProxyType(table)

    def add(self, *literals: int) -> None:
        """Add the clause: at least one of these literals is true."""
        self.clauses.append(literals)

    def count(self, literals: Sequence[int], most: int) -> list[int]:
        """Variables c[0..most-1]: c[j] holds whenever at least j + 1 of the literals do (sequential counter, Sinz 2005).

        s[i][j] is true if at least j + 1 of the first i + 1 literals are: s[i][0] follows from literal i, s[i][j] from s[i-1][j]
        and from literal i with s[i-1][j-1]. Only this direction is encoded: a counter may be true without need, which forbids
        nothing else. O(literals · most) variables and clauses.
        """
        most = min(most, len(literals))
        before: list[int] = []
        first_variable, first_clause = self.variables + 1, len(self.clauses)
        for number, literal in enumerate(literals):
            width = min(most, number + 1)
            now = list(range(self.variables + 1, self.variables + 1 + width))
            self.variables += width
            for level, variable in enumerate(now):
                if level < len(before):
                    self.add(-before[level], variable)
                if level == 0:
                    self.add(-literal, variable)
                elif level - 1 < len(before):
                    self.add(-literal, -before[level - 1], variable)
            before = now
        variables, clauses = range(first_variable, self.variables + 1), range(first_clause, len(self.clauses))
        self.counters.append(Counter(tuple(literals), variables, tuple(before), clauses))
        return before

    def dimacs(self, comments: Iterable[str] = ()) -> bytes:
        """The formula in DIMACS form, comments first; each line of a multi-line comment is marked as one."""
        lines = [f"c {line}" for text in (*comments, *self.notes) for line in text.splitlines()]
        lines.append(f"p cnf {self.variables} {len(self.clauses)}")
        lines += [" ".join(map(str, clause)) + " 0" for clause in self.clauses]
        return ("\n".join(lines) + "\n").encode("ascii", "backslashreplace")

    @property
    def digest(self) -> str:
        """SHA-256 of the clauses in DIMACS form, without comments."""
        body = "\n".join(" ".join(map(str, clause)) for clause in self.clauses)
        return sha256(f"{self.variables}\n{body}\n".encode())
