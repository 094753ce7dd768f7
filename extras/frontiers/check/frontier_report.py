"""Reports on frontiers: the JSON document that scripts rely on, and the same in words."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from certree.api.reports.text import collective_words, gap_words, one_line, rounded_of, rounded_words
from certree.verify.bounds.instance import Instance
from certree.verify.bounds.witness import check_bound
from certree.verify.exact.question import Point
from certree.verify.exact.refutations.refutation import unpack
from certree.verify.frontier.document import FrontierVerdict
from certree.verify.frontier.points import covers

LISTED = 10  # refuted points of one kind that are listed for people


def frontier_report(verdict: FrontierVerdict, known: Mapping[str, Point] = MappingProxyType({})) -> dict[str, Any]:
    """The keys of `--json`; rationals as strings. `rate_bound`: fewest rounds per chunk (of C) that any schedule can have.

    `known`: points of the published algorithms; each is rated by the frontier (`methods`).
    """
    document, question = verdict.document, verdict.question
    report: dict[str, Any] = {
        "valid": verdict.valid,
        "topology": verdict.topology.name,
        "collective": str(verdict.collective.kind),
        "root": verdict.collective.root,
        **rounded_of(verdict.topology),
        "max_chunks": document["max_chunks"],
        "memory": document["memory"],
        "scratch": document["scratch"],
        "model": document["model"],
    }
    if not verdict.valid:
        return report | {"violations": [{"rule": one.rule, "message": one.message} for one in verdict.violations]}
    points = [entry["point"] for entry in document["points"]]
    bound = check_bound(Instance(verdict.topology, verdict.collective), document["bandwidth"]) * question.message_chunks
    rate = min((Fraction(rounds, chunks) for chunks, _, rounds in points), default=None)
    return report | {
        "points": points,
        "refuted": [{"point": entry["point"], "proof": proof_summary(entry["proof"])} for entry in document["refuted"]],
        "undecided": document["undecided"],
        "complete": document["complete"],
        "all_chunks": document["all_chunks"],
        "least_steps": question.least_steps[0],
        "rate_bound": str(bound),
        "best_rate": None if rate is None else str(rate),
        "gap": None if rate is None else str(rate / bound - 1),
        "bound": document["bandwidth"],
        "step_bounds": [{name: one[name] for name in ("steps", "rounds_per_chunk")} for one in document["step_bounds"]],
        "methods": [_rated(name, point, document) for name, point in sorted(known.items())],
    }


def _rated(name: str, point: Point, document: dict[str, Any]) -> dict[str, Any]:
    """The rating of a method's point: `optimal` (it is on a complete frontier), `improved` (by the point `better`), or
    `undecided`."""
    better = [
        entry["point"] for entry in document["points"] if tuple(entry["point"]) != point and covers(tuple(entry["point"]), point)
    ]
    verdict = "improved" if better else "optimal" if document["complete"] else "undecided"
    return {"method": name, "point": list(point), "verdict": verdict, "better": better[0] if better else None}


def proof_summary(proof: dict[str, Any]) -> dict[str, Any]:
    """A proof without its lines or prices, which only the file has."""
    if proof["kind"] == "prices":
        return {"kind": "prices"}
    if "lines" not in proof:
        return proof
    text = unpack(proof["lines"])
    return {
        **{name: proof[name] for name in ("kind", "formula", "ordered", "pairs", "sha256") if name in proof},
        "lines": text.count("\n"),
        "bytes": len(text),
    }


def frontier_words(report: dict[str, Any]) -> str:
    """The report as text."""
    what = f"{collective_words(report)} on {one_line(report['topology'])}"
    if not report["valid"]:
        listed = [f"  {found['rule']}: {found['message']}" for found in report["violations"]]
        return "\n".join([f"invalid: frontier of {what}", *listed])
    reach = "for any number of chunks" if report["all_chunks"] else f"for up to {report['max_chunks']} chunks per node"
    state = f"complete {reach}" if report["complete"] else f"undecided, up to {report['max_chunks']} chunks per node"
    lines = [f"frontier of {what}: {state}", *rounded_words(report, "what follows is about whole units")]
    lines.append(f"  {'chunks':>6} {'steps':>6} {'rounds':>6} {'rounds per chunk':>17}")
    for chunks, steps, rounds in report["points"]:
        lines.append(f"  {chunks:>6} {steps:>6} {rounds:>6} {Fraction(rounds, chunks)!s:>17}")
    lines.append(f"  bounds: {report['least_steps']} steps; {report['rate_bound']} rounds per chunk ({report['bound']['kind']})")
    lines.append(f"  best rate: {report['best_rate']}, gap {gap_words(report['gap'])}")
    for one in report["step_bounds"]:
        steps = f"{one['steps']} step{'s' * (one['steps'] != 1)}"
        lines.append(f"  any number of chunks: at most {steps} take ≥ {one['rounds_per_chunk']} rounds per chunk (prices)")
    kinds: dict[str, list[str]] = {}
    for entry in report["refuted"]:
        kinds.setdefault(entry["proof"]["kind"], []).append(_point(entry["point"]))
    for kind, points in sorted(kinds.items()):
        more = f" and {len(points) - LISTED} more" if len(points) > LISTED else ""
        lines.append(f"  refuted by {kind}: {', '.join(points[:LISTED])}{more}")
    if report["undecided"]:
        lines.append("  undecided: " + ", ".join(_point(point) for point in report["undecided"]))
    for entry in report["methods"]:
        better = f" by {_point(entry['better'])}" if entry["better"] else ""
        lines.append(f"  {entry['method']}: {_point(entry['point'])} {entry['verdict']}{better}")
    lines.append(f"  machine: {report['model']}")
    return "\n".join(lines)


def _point(point: Sequence[int]) -> str:
    return "({}, {}, {})".format(*point)
