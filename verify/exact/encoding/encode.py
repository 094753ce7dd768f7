"""The trusted formula of any question."""

from certree.verify.exact.encoding.chunk_order import order_chunks
from certree.verify.exact.encoding.encoder import Encoder
from certree.verify.exact.encoding.spread import SpreadEncoder
from certree.verify.exact.encoding.sums import SumEncoder
from certree.verify.exact.question import Question


def encode(question: Question, *, ordered: bool = False) -> Encoder:
    """The trusted formula of a question; `ordered`: with interchangeable chunks in order (`chunk_order`)."""
    encoder = SumEncoder(question) if question.is_sum else SpreadEncoder(question)
    if ordered:
        order_chunks(encoder)
    return encoder
