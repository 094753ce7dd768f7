"""Proofs that a formula has no model: lines in the text form of DRAT, checked by reverse unit propagation (RUP) with deletion.

A line `1 -2 0` adds the clause x1 or not x2: unit propagation over the present clauses, with the negation of the new clause
assumed, must find a contradiction. A line `d 1 -2 0` deletes a clause, which must be present. The empty clause ends the proof.
Lines that need more than RUP (resolution asymmetric tautologies, which only preserve satisfiability) are refused.

Sources: Goldberg and Novikov, "Verification of proofs of unsatisfiability for CNF formulas", DATE 2003; Wetzler, Heule and Hunt,
"DRAT-trim", SAT 2014.
"""

import re
from array import array
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from certree.models.common.budget import PYTHON, left, spend
from certree.models.common.errors import CertreeError
from certree.verify import _proofs
from certree.verify.exact.formula import Formula
from certree.verify.rule import Subject, rule

_LINE = re.compile(r"(d )?((?:-?[1-9][0-9]{0,9} )*)0")
MAX_LITERALS, MAX_LINES, MAX_LINE = 1 << 28, 1 << 23, 1 << 24  # literals and lines of a proof, characters of a line


class ProofError(CertreeError):
    """A refutation that proves nothing. `rule`: the broken rule, as listed in `docs/reference/rules.md`."""

    exit_code = 1

    def __init__(self, rule: str, message: str) -> None:
        super().__init__(message)
        self.rule, self.message = rule, message


def malformed(message: str) -> ProofError:
    """The error for a document that is not a proof."""
    return ProofError("proof-malformed", message)


@dataclass(frozen=True, eq=False)
class Proof:
    """Lines as columns: `literals` of all lines, each line ended by 0 (int32), and whether a line deletes (uint8)."""

    literals: NDArray[np.int32]
    deletes: NDArray[np.uint8]


def parse_proof(text: str, variables: int) -> Proof:
    """The lines of a proof; ProofError `proof-malformed` names the first malformed line, or one with an unknown variable."""
    literals = array("i")
    deletes = bytearray()
    if text.count("\n") > MAX_LINES:
        raise ProofError("proof-malformed", f"the proof has more than {MAX_LINES} lines")
    spend(PYTHON // 10 * len(text), f"the {len(text):,} characters of a proof")
    for number, line in enumerate(text.removesuffix("\n").split("\n") if text else (), 1):
        match = _LINE.fullmatch(line) if len(line) <= MAX_LINE else None
        if match is None:
            raise ProofError("proof-malformed", f"proof line {number}: {line[:60]!r} is not a line of a proof")
        clause = [int(word) for word in match[2].split()]
        if any(abs(literal) > variables for literal in clause):
            raise ProofError("proof-malformed", f"proof line {number}: {line[:60]!r} has a variable above {variables}")
        literals.extend(clause)
        literals.append(0)
        deletes.append(match[1] is not None)
        if len(literals) > MAX_LITERALS:
            raise ProofError("proof-malformed", f"the proof has more than {MAX_LITERALS} literals")
    return Proof(np.array(literals, np.int32), np.frombuffer(deletes, np.uint8))


def check_proof(formula: Formula, text: str) -> int:
    """The number of lines that refute the formula; ProofError names the line that fails, and the reason.

    Rules: `proof-malformed`; `proof-step` (a clause that does not follow), `proof-deletion` (of a clause that is not present),
    `proof-open` (all lines are correct, but there is no contradiction). Time: unit propagation over all lines; memory
    O(formula + proof).
    """
    proof = parse_proof(text, formula.variables)
    flat = [literal for clause in formula.clauses for literal in (*clause, 0)]
    lines = f"{len(proof.deletes):,} lines of a proof about {len(formula.clauses):,} clauses"
    spend(len(flat) + len(proof.literals), lines)
    result, line, steps = _proofs.check_rup(formula.variables, np.array(flat, np.int32), proof.literals, proof.deletes, left())
    spend(steps, f"{lines}, of which {line:,} are checked")
    raise_for(result, line)
    return line


@rule(
    "proof-step",
    "a line adds a clause that does not follow by unit propagation",
    'certificate.fewest_steps.proof.lines = "-1 0"',
    Subject.PROOFS,
)
@rule(
    "proof-deletion",
    "a line deletes a clause that is not present",
    'certificate.fewest_steps.proof.lines = "d 1 2 3 0"',
    Subject.PROOFS,
)
@rule("proof-open", "all lines are correct, but without contradiction", 'certificate.fewest_steps.proof.lines = ""', Subject.PROOFS)
def raise_for(result: int, line: int) -> None:
    """Raise ProofError unless the result of a checker is 0, refuted."""
    if result == 1:
        raise ProofError("proof-step", f"proof line {line + 1}: the clause does not follow by unit propagation")
    if result == 2:
        raise ProofError("proof-deletion", f"proof line {line + 1}: deletes a clause that is not present")
    if result == 3:
        raise ProofError("proof-open", f"all {line} lines are correct, but they do not reach a contradiction")
