"""The refutation by a cut that narrows as time runs out.

A cut states that chunks due inside a set must enter it. Near the end that is too weak: a chunk that enters far from its target
arrives too late.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from certree.verify.bounds.instance import Instance
from certree.verify.bounds.witness import node_id, node_set
from certree.verify.exact.question import Question
from certree.verify.exact.refutations.refutation import REFUTATIONS, only_fields
from certree.verify.exact.rup import ProofError

MAX_STEPS = 1 << 12  # examined one by one


@REFUTATIONS.register("time-cut")
def time_cut(question: Question, proof: Mapping[str, Any]) -> None:
    """{"set": [ids], "to": id}: too few chunks can enter the set early enough to reach the endpoint `to` in it.

    Proof. Let X be the set, v the target, S the steps, and A(t) the cells of X from which v is at most S − t transfers away: data
    in other cells of X when step t begins cannot reach v in time. A(t + 1) lies in A(t). Take a chunk due at v that starts outside
    A(0). At the end it is at v, in A(S) = {v}. Follow it back to its source: at some step t it goes over an arc from a cell outside
    A(t) to a cell in A(t + 1); it cannot stay in a cell outside A(t) and in A(t + 1), since there is no such cell. Let B(t) be
    A(t + 1) and the switches of X that hold no data. The arc starts outside B(t) and ends in it, so it passes a pair of nodes into
    B(t). This pair does not leave an endpoint of A(t): only the first node of the arc can be an endpoint, and it is outside A(t).
    (Reducing switches of A(t) may lie within the arc, so pairs that leave them count.) Let w(t) be the capacity of all such pairs.
    Each such chunk loads them at least once, so the number of chunks is at most the sum of r(t) · w(t). With r(t) >= 1 and R rounds
    in total that is at most (R − S) · max w + sum of w. All of this is in the direction of the spreading; an all-reduce has none
    and is refused.
    """
    only_fields(proof, "set", "to")
    inside = {
        node
        for node, flag in enumerate(node_set(Instance(question.topology, question.collective), "time-cut", proof["set"]))
        if flag
    }
    target = node_id(Instance(question.topology, question.collective), "time-cut", proof["to"])
    if question.is_sum or target not in inside or target not in question.cells:
        raise ProofError("proof-foreign", "a time-cut needs chunks that spread, and a target that is an endpoint in the set")
    if question.steps > MAX_STEPS:
        raise ProofError("proof-foreign", f"a time-cut covers up to {MAX_STEPS} steps, not {question.steps}")
    chunks, widths = cut_widths(question, frozenset(inside), target)
    most = (question.rounds - question.steps) * max(widths) + sum(widths)
    if chunks <= most:
        raise ProofError("proof-weak", f"{chunks} chunks must enter the set, and up to {most} can")


def cut_widths(question: Question, inside: frozenset[int], target: int) -> tuple[int, list[int]]:
    """The number of chunks due at the target that start outside A(0), and w(t) for each step. O(steps · pairs)."""
    cells, ends, steps = set(question.cells), set(question.topology.endpoints.tolist()), question.steps
    hops = question.hops_to[target]
    close = [{cell for cell in inside & cells if hops.get(cell, steps + 1) <= steps - t} for t in range(steps + 1)]
    switches = inside - cells
    starting = sum(demand.source not in close[0] for demand in question.demands if target in demand.targets)
    widths = []
    for step in range(steps):
        entered = close[step + 1] | switches
        widths.append(
            sum(
                size
                for tail, head, size in question.pair_ends
                if head in entered and tail not in entered and tail not in close[step] & ends
            )
        )
    return starting * question.chunks, widths


def needed_rounds(question: Question, inside: frozenset[int], target: int) -> Fraction | None:
    """The number of rounds below which the cut excludes the question's chunks and steps; None when it excludes any number."""
    chunks, widths = cut_widths(question, inside, target)
    if not max(widths):
        return None if chunks else Fraction(0)
    return question.steps + Fraction(chunks - sum(widths), max(widths))
