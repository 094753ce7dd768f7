"""Proofs of infeasibility as files of other checkers: those of a frontier, and those of the certificate of a schedule."""

from pathlib import Path
from typing import Any

from certree.models.common.files import write_atomically
from certree.models.schedule.schedule import Schedule
from certree.verify.certificates.fewest_cycles import asked_before
from certree.verify.certificates.optimum import question_of
from certree.verify.exact.question import Question
from certree.verify.exact.refutations.proof_formats import foreign_files, run_files
from certree.verify.exact.refutations.refutation import Document
from certree.verify.frontier.document import FrontierVerdict

_PROOFS = {"optimum", "fewest_steps", "fewest_cycles"}  # parts of certificates


def write_proofs(found: Any, folder: str | Path) -> int:
    """Write the formula and the proof of every refutation by formula of a valid frontier, or of the certificate of a valid
    schedule, into a new folder, in the formats of other checkers (DIMACS, DRAT, VeriPB). Returns how many there were."""
    target = Path(folder)
    target.mkdir(parents=True)
    if isinstance(found, FrontierVerdict):
        written = _files_of(found.question, found.document["refuted"])
    else:
        claim = (found.certificate or {}).get("fewest_cycles", {"refuted": []})
        runs = [(asked_before(found, entry["chunks"], entry["granules"]), entry["proof"]) for entry in claim["refuted"]]
        written = [run_files(*one) for one in runs] or _files_of(*_refuted_by(found))
    for files in written:
        for name, data in files.items():
            write_atomically(target / name, data, force=False)
    return len(written)


def _files_of(question: Question, refuted: list[Document]) -> list[dict[str, bytes]]:
    """The files of each refutation of a point by formula."""
    proofs = [entry for entry in refuted if "lines" in entry["proof"]]
    return [foreign_files(question.at(tuple(entry["point"])), entry["proof"]) for entry in proofs]


def has_proofs(found: Any) -> bool:
    """Whether it is the verdict on a frontier, or a schedule whose certificate has proofs of infeasibility."""
    is_frontier = isinstance(found, FrontierVerdict)
    return is_frontier or (isinstance(found, Schedule) and not _PROOFS.isdisjoint(found.certificate or {}))


def _refuted_by(schedule: Schedule) -> tuple[Question, list[Document]]:
    """The points that the certificate of a schedule refutes, each once."""
    certificate = schedule.certificate or {}
    fewest = [certificate["fewest_steps"]] if "fewest_steps" in certificate else []
    refuted = [*certificate.get("optimum", {"refuted": []})["refuted"], *fewest]
    return question_of(schedule), list({tuple(entry["point"]): entry for entry in refuted}.values())
