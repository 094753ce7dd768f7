"""Shares of links: one of C equal chunks loads the counted links with at most 1/C of what they can carry, which is refuted.

Take any schedule of C chunks in S steps and R rounds, and some pairs of neighbours. In R rounds they carry at most R · (sum of
their capacities) transfers. Of the C chunks (of a spreading: of the C sets of one chunk of each demand) one loads them at most

    most = floor(R · sum of capacity / C)

times, counted over all steps. That chunk, or set, alone is a schedule of (1, S, R). So a refutation of the trusted formula of
(1, S, R), with a counter that limits the load of the counted pairs, excludes (C, S, R).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from certree.models.common.columns import int_column
from certree.models.common.errors import UnsupportedError
from certree.verify.exact.encoding.encode import encode
from certree.verify.exact.encoding.encoder import MAX_CLAUSES, Encoder
from certree.verify.exact.question import Question
from certree.verify.exact.refutations.refutation import REFUTATIONS, check_lines, lines_proof, only_fields
from certree.verify.exact.rup import malformed


@REFUTATIONS.register("share")
def share(question: Question, proof: Mapping[str, Any]) -> None:
    """{"pairs", "formula", "sha256", "lines"}: no chunk can do with its share of these pairs (`Topology.pair_index`, ascending).

    The formula is made again (`share_encoder`); the other fields are those of `drat`.
    """
    only_fields(proof, "pairs", "formula", "sha256", "lines")
    count = len(question.topology.pair_capacity)
    pairs = int_column(proof["pairs"], "pairs of a share", 0, count - 1, error=malformed).tolist()
    if pairs != sorted(set(pairs)):
        raise malformed("the pairs of a share must ascend, each once")
    check_lines(proof, lambda: share_encoder(question, pairs).formula, f"a share of {list(question.point)}")


def share_encoder(question: Question, pairs: Sequence[int]) -> Encoder:
    """The trusted formula of one chunk of each demand with at most its share of the load of these pairs.

    UnsupportedError where the formula is too large. O(clauses) time and memory.
    """
    encoder = encode(question.at((1, question.steps, question.rounds)))
    counted = set(pairs)
    loads = [literal for (pair, _), users in encoder.loads.items() if pair in counted for literal in users]
    most = most_load(question, pairs)
    if most < len(loads):  # else the limit says nothing
        if (needed := len(encoder.formula.clauses) + 2 * len(loads) * (most + 1)) > MAX_CLAUSES:
            raise UnsupportedError(f"a share of {question.point} would take {needed} clauses; at most {MAX_CLAUSES} are tried")
        encoder.formula.add(-encoder.formula.count(loads, most + 1)[most])
    return encoder


def most_load(question: Question, pairs: Sequence[int]) -> int:
    """The share of one chunk of the point, or of one set of chunks: how often it loads these pairs at most."""
    return question.rounds * int(question.topology.pair_capacity[list(pairs)].sum()) // question.chunks


def share_proof(pairs: Sequence[int], digest: str, text: str) -> dict[str, Any]:
    """The document of a proof with this text, about the formula with this digest, for a share of these pairs."""
    return {**lines_proof(digest, text), "kind": "share", "pairs": list(pairs)}
