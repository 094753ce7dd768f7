"""One cell of a comparison of designs."""

from dataclasses import dataclass
from fractions import Fraction

from certree.extras.sweeps.run.plan import Cell

GRID, FAILURES, SENSITIVITY, TRAINING = "grid", "failures", "sensitivity", "training"
ONE = Fraction(1)


@dataclass(frozen=True)
class DesignCell:
    """One run of a comparison, of a collective or of a workload. `part`: the section of the results; `rate`, `latency`: factors of
    the links' own."""

    part: str
    network: str
    key: str
    label: str
    rate: Fraction = ONE
    latency: Fraction = ONE
    swept: Cell | None = None
    workload: str = ""
    method: str = ""
