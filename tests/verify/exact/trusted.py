"""What the trusted formula says of a question."""

from pysat.solvers import Cadical195

from certree.verify.exact.encoding.encode import encode
from certree.verify.exact.question import Question
from certree.verify.frontier.bundle import why_not


def answer(question: Question) -> bool:
    """Whether there is a schedule; where there is, it is decoded and judged."""
    encoder = encode(question)
    with Cadical195(bootstrap_with=encoder.formula.clauses) as solver:
        found = solver.solve()
        if found:
            assert why_not(question, encoder.decode(solver.get_model())) is None
    return found
