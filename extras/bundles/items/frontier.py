"""A frontier with all its proofs."""

from collections.abc import Iterator, Mapping

from certree.extras.bundles.evidence import EVIDENCE, Evidence, ItemResult, Opened, Source, Status
from certree.extras.bundles.model.bundle import FRONTIER
from certree.extras.bundles.reading import frontier
from certree.models.common.files import canonical_json
from certree.verify.frontier.document import check_frontier
from certree.verify.verdict import Violation

#: parts of the document, and the beginnings of the names of the rules that they can break
_PARTS = {"points": ("frontier-point", "frontier-dominated"), "refutations": ("proof-",), "claims": ("",)}


@EVIDENCE.register("frontier")
class FrontierEvidence(Evidence):
    """each listed (chunks, steps, rounds) has a valid schedule, and every other candidate is ruled out by a proof"""

    of, needs = "frontier", ()
    by_hand = (
        "`unzip F.certree frontier.json && certree verify frontier.json --proofs proofs` writes formulas and proofs for other "
        "checkers (DIMACS, DRAT, VeriPB)"
    )

    def collect(self, source: Source) -> Mapping[str, bytes]:
        """The document."""
        return {FRONTIER: canonical_json(source.frontier)}

    def recheck(self, name: str, opened: Opened) -> Iterator[ItemResult]:
        """Schedules, proofs line by line, and the claims that follow; no solver."""
        document = frontier(opened.bundle)
        verdict = check_frontier(document, f"{opened.bundle.source}: {FRONTIER}")
        left = list(verdict.violations)
        reach = "any number of chunks" if document["all_chunks"] else f"up to {document['max_chunks']} chunks per node"
        complete = (
            f"complete for {reach}" if document["complete"] else f"{len(document['undecided'])} candidates undecided, {reach}"
        )
        told = {
            "points": f"{len(document['points'])} points, each with a valid schedule; none dominates another",
            "refutations": f"{len(document['refuted'])} candidates ruled out by proofs",
            "claims": complete,
        }
        for part, starts in _PARTS.items():
            found = [one for one in left if one.rule.startswith(starts)]
            left = [one for one in left if one not in found]
            yield _result(f"{name}: {part}", found, told[part])


def _result(name: str, found: list[Violation], told: str) -> ItemResult:
    if found:
        return ItemResult(name, Status.FAILED, f"{found[0].rule}: {found[0].message}")
    return ItemResult(name, Status.RECHECKED, told)
