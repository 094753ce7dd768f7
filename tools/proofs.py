"""`make proofs`: the proofs of `specs/proved`, compiled from scratch, and what their theorems rest on.

Exit code 0 where Coq accepts all and no theorem rests on an axiom, 1 otherwise, 69 without Coq.
"""

import sys
import tempfile
import time
from pathlib import Path

from certree.extras.proved.run.proved_program import MODULES, NO_AXIOMS, ProofError, compile_proofs, sources, theorems
from certree.models.common.errors import ToolMissingError

#: the modules of the program, and those of further theorems
ALL = (*MODULES, "Slots", "Distances", "Information", "Bounds", "Hops", "Deadlock")


def main() -> int:
    """The exit code; a line for each theorem."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        try:
            answers = compile_proofs(Path(folder), ALL)
        except (ToolMissingError, ProofError) as error:
            print(f"error: {error}", file=sys.stderr)
            return 1 if isinstance(error, ProofError) else error.exit_code
    for name, answer in zip(theorems(ALL), answers, strict=False):
        print(f"{name}: {answer}")
    lines = sum(len((sources() / f"{name}.v").read_text().splitlines()) for name in ALL)
    print(f"{lines:,} lines in {len(ALL)} modules, {time.monotonic() - began:.0f} s")
    return int(answers != [NO_AXIOMS] * len(theorems(ALL)))


if __name__ == "__main__":
    sys.exit(main())
