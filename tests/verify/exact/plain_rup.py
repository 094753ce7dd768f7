"""The proof checker once more, in plain Python: what the fast one is compared with."""

import numpy as np

from certree.verify.exact.formula import Formula
from certree.verify.exact.rup import Proof


def check_rup_plainly(formula: Formula, proof: Proof) -> tuple[int, int]:
    """What `_proofs.check_rup` answers, the slow and plain way: (0 refuted, 1 step fails, 2 nothing to delete, 3 open; line).

    O(lines · clauses · rounds of propagation).
    """
    clauses = [frozenset(clause) for clause in formula.clauses]
    facts: set[int] = set()  # literals that follow without any assumption; they stay, since every clause is implied
    ends = np.flatnonzero(proof.literals == 0).tolist()
    begin = 0
    if _contradicts(clauses, facts):
        return 0, 0
    for line, (end, deletes) in enumerate(zip(ends, proof.deletes.tolist(), strict=True)):
        clause = frozenset(proof.literals[begin:end].tolist())
        begin = end + 1
        if deletes:
            if clause not in clauses:
                return 2, line
            clauses.remove(clause)
            continue
        assumed = facts | {-literal for literal in clause}
        if not _contradicts(clauses, assumed):
            return 1, line
        clauses.append(clause)
        if _contradicts(clauses, facts):
            return 0, line + 1
    return 3, len(ends)


def _contradicts(clauses: list[frozenset[int]], true: set[int]) -> bool:
    """Whether unit propagation from the literals `true`, which it adds to, falsifies a clause."""
    if any(-literal in true for literal in true):
        return True
    changed = True
    while changed:
        changed = False
        for clause in clauses:
            if clause & true:
                continue
            left = [literal for literal in clause if -literal not in true]
            if not left:
                return True
            if len(left) == 1:
                true.add(left[0])
                changed = True
    return False
