"""Worlds of sorts of any size, or of a few members each, and quantifiers over them."""

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import z3

MEMBERS = 2  # of each sort in the finite world of the mutants

Formula = Any  # z3 has no types
Term = Any


class World:
    """Sorts, and quantifiers over them: symbolic, or written out over `members` of each."""

    def __init__(self, members: int | None) -> None:
        self.is_finite = members is not None
        self.context = z3.Context()
        self.sorts: dict[str, Any] = {"Int": z3.IntSort(self.context), "Bool": z3.BoolSort(self.context)}
        self.values: dict[str, Sequence[Term]] = {"Int": [z3.IntVal(k, self.context) for k in range(members or 0)]}
        for name in ("Node", "Row", "Kind", "Link"):
            if members is None:
                self.sorts[name] = z3.DeclareSort(name, self.context)
            else:
                names = [f"{name}{k}" for k in range(members)]
                self.sorts[name], self.values[name] = z3.EnumSort(name, names, self.context)

    def function(self, name: str, sorts: str) -> Any:
        """A function of the given sorts, the last of which is its value's."""
        return z3.Function(name, *(self.sorts[sort] for sort in sorts.split()))

    def constant(self, name: str, sort: str) -> Term:
        """Any member of the sort."""
        return z3.Const(name, self.sorts[sort])

    def all(self, sorts: str, body: Callable[..., Formula]) -> Formula:
        """For all members of the sorts."""
        names = sorts.split()
        if self.is_finite:
            return z3.And([body(*values) for values in product(*(self.values[name] for name in names))] + [self.true])
        bound = [z3.Const(f"{name}_{k}", self.sorts[name]) for k, name in enumerate(names)]
        return z3.ForAll(bound, body(*bound))

    @property
    def true(self) -> Formula:
        """Truth in this world's context."""
        return z3.BoolVal(True, self.context)
