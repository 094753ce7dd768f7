"""Refutations in the formats of third-party checkers: DIMACS, DRAT, and the proof format of VeriPB.

A user who trusts neither certree's checker nor its files needs only the encoder: `certree verify FRONTIER --proofs DIR` rebuilds
every formula and writes it next to its proof. `drat-trim F.cnf F.drat` and `veripb --cnf F.cnf F.pbp` check them.
"""

from collections.abc import Sequence
from typing import Any

from certree.verify.exact.encoding.encode import encode
from certree.verify.exact.encoding.run_encoder import RunEncoder
from certree.verify.exact.formula import Formula
from certree.verify.exact.question import Question
from certree.verify.exact.refutations.refutation import unpack
from certree.verify.exact.refutations.share import most_load, share_encoder
from certree.verify.exact.run_question import RunQuestion
from certree.verify.exact.rup import parse_proof


def foreign_files(question: Question, proof: dict[str, Any]) -> dict[str, bytes]:
    """The files (name -> content) of the formula and proof of a `drat` or `share` refutation, in each form. O(formula + proof)."""
    pairs, ordered = proof.get("pairs"), proof.get("ordered", False)
    formula = (encode(question, ordered=ordered) if pairs is None else share_encoder(question, pairs)).formula
    name = "refuted_c{}_s{}_r{}".format(*question.point)
    what = f"{question.collective.words} on {question.topology.name}: no schedule of {question.point} (chunks, steps, rounds)"
    comments = [
        what,
        question.model,
        *["chunks are interchangeable; their transfers of step 0 descend, which loses no schedule"] * ordered,
        *([] if pairs is None else [_share_words(question, pairs)]),
        "arcs a: " + " ".join(f"{number}={arc.src}>{arc.dst}" for number, arc in enumerate(question.arcs)),
    ]
    return _written(name, comments, formula, proof)


def _share_words(question: Question, pairs: Sequence[int]) -> str:
    """A description of the formula of a share."""
    ends = zip(question.topology.pair_src[pairs].tolist(), question.topology.pair_dst[pairs].tolist(), strict=True)
    named = " ".join(f"{src}>{dst}" for src, dst in ends)
    return f"one chunk alone, which loads these links at most {most_load(question, pairs)} times in all: {named}"


def run_files(question: RunQuestion, proof: dict[str, Any]) -> dict[str, bytes]:
    """The files of a refutation of runs in fine slots (`verify.certificates.fewest_cycles`)."""
    what = f"{question.chunks} chunks of {question.granules} granules, all-reduce on {question.topology.name}"
    name = f"refuted_k{question.chunks}_g{question.granules}_t{question.cycles}"
    comments = [f"{what}: no run of {question.cycles} cycles on machine {question.machine.name}, in fine slots"]
    return _written(name, comments, RunEncoder(question).formula, proof)


def _written(name: str, comments: list[str], formula: Formula, proof: dict[str, Any]) -> dict[str, bytes]:
    """The three files."""
    text = unpack(proof["lines"])
    return {
        f"{name}.cnf": formula.dimacs(comments),
        f"{name}.drat": f"{text}0\n".encode(),
        f"{name}.pbp": veripb_text(formula, text).encode(),
    }


def veripb_text(formula: Formula, text: str) -> str:
    """The lines of a proof as steps of VeriPB (format version 3.0): clauses by reverse unit propagation, then the contradiction."""
    proof = parse_proof(text, formula.variables)
    lines = ["pseudo-Boolean proof version 3.0", f"f {len(formula.clauses)};"]
    clause: list[int] = []
    deletes = iter(proof.deletes.tolist())
    for literal in proof.literals.tolist():
        if literal:
            clause.append(literal)
            continue
        rule = "del spec" if next(deletes) else "rup"
        lines.append(f"{rule} {_constraint(clause)};")
        clause = []
    lines += [f"rup {_constraint([])};", "output NONE;", "conclusion UNSAT;", "end pseudo-Boolean proof;"]
    return "\n".join(lines) + "\n"


def _constraint(clause: list[int]) -> str:
    """A clause as an inequality."""
    return "".join(f"+1 {'~' if literal < 0 else ''}x{abs(literal)} " for literal in clause) + ">= 1"
