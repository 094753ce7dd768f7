"""Refutations of points; each registered kind re-checks its proofs without any solver.

A refutation is {"point": [C, S, R], "proof": {"kind", ...}} and claims that no schedule of C chunks per node has S steps and at
most R rounds in the machine of `question`. To add a kind, register a checker, with its proof of correctness in the docstring.
"""

import base64
import binascii
import zlib
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from certree.models.common.errors import UnsupportedError, short
from certree.models.common.fields import Fields
from certree.models.common.files import sha256
from certree.models.common.registry import Registry, import_folder
from certree.verify.bounds.instance import Instance
from certree.verify.bounds.witness import check_bound
from certree.verify.exact.encoding.encode import encode
from certree.verify.exact.formula import Formula
from certree.verify.exact.question import Question
from certree.verify.exact.rup import ProofError, check_proof, malformed
from certree.verify.rule import Subject, rule

MAX_PROOF_BYTES = 1 << 28  # of an unpacked proof

Document = dict[str, Any]

#: kind -> (question of the refuted point, proof document); raises ProofError or WitnessError
REFUTATIONS: Registry[Callable[[Question, Mapping[str, Any]], None]] = Registry("refutation")


@rule(
    "proof-malformed",
    "the document is not a proof, a line is not a line of a proof, or a point is refuted twice",
    'certificate.fewest_steps.proof = {"kind": "drat"}',
    Subject.PROOFS,
)
@rule(
    "proof-foreign",
    "the proof is about another formula, or its kind does not apply to this question",
    'certificate.fewest_steps.proof.formula = "0000"',
    Subject.PROOFS,
)
@rule(
    "proof-weak",
    "the proof does not exclude the point",
    'certificate.fewest_steps.proof = {"kind": "distance", "from": 0, "to": 2, "hops": 2}',
    Subject.PROOFS,
)
def check_refutation(question: Question, proof: Any) -> None:
    """Check the proof that the point of the question has no schedule. Raises ProofError or WitnessError if it does not show that.

    The rule is `proof-malformed` for other documents; each kind has further rules.
    """
    kinds = load_refutations()
    kinds[Fields(proof, "proof", malformed).text("kind", known=kinds)](question, proof)


def load_refutations() -> Registry[Callable[[Question, Mapping[str, Any]], None]]:
    """The registry, with every module of this folder imported."""
    import_folder("certree.verify.exact.refutations")
    return REFUTATIONS


def only_fields(proof: Mapping[str, Any], *names: str) -> None:
    """Raise ProofError `proof-malformed` unless the document has exactly these fields besides its kind."""
    Fields(proof, f"{proof['kind']} proof", malformed).only("kind", *names)


@REFUTATIONS.register("distance")
@rule(
    "proof-distance",
    "the farthest pair is not the stated one",
    'certificate.fewest_steps.proof = {"kind": "distance", "from": 0, "to": 1, "hops": 1}',
    Subject.PROOFS,
)
def distance(question: Question, proof: Mapping[str, Any]) -> None:
    """{"from", "to", "hops"}: data of `from` is due at `to`, and it takes at least `hops` consecutive transfers to bring it there.

    Each of them takes a separate step, so a schedule has at least `hops` steps for any number of rounds. The hops are recounted.
    """
    only_fields(proof, "from", "to", "hops")
    hops, start, end = question.least_steps
    if (proof["from"], proof["to"], proof["hops"]) != (start, end, hops):
        raise ProofError(
            "proof-distance", f"the farthest pair is {start} and {end}, {hops} transfers apart, not as stated: {short(dict(proof))}"
        )
    if question.steps >= hops:
        raise ProofError("proof-weak", f"{hops} consecutive transfers do not exclude {question.steps} steps")


@REFUTATIONS.register("bound")
def bound(question: Question, proof: Mapping[str, Any]) -> None:
    """{"bound": bound document}: a bandwidth bound b (rounds per chunk of the message) with R < b · chunks of the message.

    Bandwidth bounds count the messages over links, in any number of steps; see `witness`.
    """
    only_fields(proof, "bound")
    value = check_bound(Instance(question.topology, question.collective), proof["bound"])
    if proof["bound"]["quantity"] != "bandwidth":
        raise ProofError("proof-weak", "a bound on the latency does not bound rounds")
    if question.rounds >= value * question.message_chunks:
        needed = Fraction(value * question.message_chunks)
        raise ProofError("proof-weak", f"the bound demands {needed} rounds, which does not exclude {question.rounds}")


@REFUTATIONS.register("drat")
@rule(
    "proof-digest",
    "the lines do not have the stated digest",
    'certificate.fewest_steps.proof.sha256 = "0000"',
    Subject.PROOFS,
)
def drat(question: Question, proof: Mapping[str, Any]) -> None:
    """{"formula", "ordered", "sha256", "lines"}: the trusted formula of the point has no model (`encoder`), by the lines of a proof
    (`rup`).

    `formula`: digest of the formula, which is rebuilt from the question; `ordered`: with interchangeable chunks in order, which is
    justified again (`chunk_order`); `lines`: the text, packed by `pack`; `sha256`: of the text. A formula without a model means
    that there is no schedule.
    """
    only_fields(proof, "formula", "ordered", "sha256", "lines")
    ordered = Fields(proof, "drat proof", malformed).choice("ordered", (True, False))
    check_lines(proof, lambda: encode(question, ordered=ordered).formula, str(list(question.point)))


def check_lines(proof: Mapping[str, Any], formula_of: Callable[[], Formula], about: str) -> None:
    """Check the lines of a proof, with their digest, about a formula that is made again; ProofError where they do not refute it."""
    text = unpack(proof["lines"])
    if sha256(text.encode()) != proof["sha256"]:
        raise ProofError("proof-digest", "the lines of the proof do not have the stated digest")
    try:
        formula = formula_of()
    except UnsupportedError as error:
        raise ProofError("proof-foreign", str(error)) from None
    if formula.digest != proof["formula"]:
        raise ProofError("proof-foreign", f"the proof is about a formula other than that of {about}")
    check_proof(formula, text)


def pack(text: str) -> str:
    """A text compressed, as base64; the same text gives the same bytes."""
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


def unpack(packed: Any) -> str:
    """The text that `pack` packed; ProofError `proof-malformed` for other input, and for more than MAX_PROOF_BYTES."""
    if not isinstance(packed, str):
        raise malformed("the lines of a proof must be a packed text")
    try:
        stream = zlib.decompressobj()
        data = stream.decompress(base64.b64decode(packed, validate=True), MAX_PROOF_BYTES)
        if not stream.eof:
            raise malformed(f"the proof is cut off, or longer than {MAX_PROOF_BYTES} bytes")
        return data.decode("ascii")
    except (binascii.Error, zlib.error, ValueError) as error:
        raise malformed(f"the lines of the proof cannot be unpacked: {error}") from None


def drat_proof(digest: str, text: str, *, ordered: bool) -> Document:
    """The document of a proof with this text, about the formula with this digest, which may have its chunks `ordered`."""
    return {**lines_proof(digest, text), "ordered": ordered}


def lines_proof(digest: str, text: str) -> Document:
    """The document of a proof with this text, about the formula with this digest."""
    return {"kind": "drat", "formula": digest, "sha256": sha256(text.encode()), "lines": pack(text)}
