"""Reports on bundles: the JSON document that scripts rely on, and the same in words."""

from collections.abc import Mapping
from typing import Any

from certree.api.reports.schedule_report import members_of
from certree.api.reports.text import collective_words, one_line
from certree.extras.bundles.check.checking import BundleVerdict, subject_of
from certree.extras.bundles.evidence import Status
from certree.extras.joint.model.joint_schedule import JointSchedule
from certree.models.common.files import sha256

ITEM = "bundle-item"  # the rule of violations in reports on several files
_ORDER = tuple(Status)


def bundle_report(verdict: BundleVerdict) -> dict[str, Any]:
    """The keys of `--json` of `bundle`, and of `verify` for a bundle."""
    bundle = verdict.bundle
    subject = subject_of(bundle)
    collective = None if subject is None or isinstance(subject, JointSchedule) else subject.collective
    document: dict[str, Any] = {
        "valid": verdict.valid,
        "kind": bundle.kind,
        "topology": None if subject is None else subject.topology.name,
        "collective": None if collective is None else collective.name,
        "root": None if collective is None else collective.root,
        **({} if collective is None else members_of(collective)),
        "bytes": len(bundle.data),
        "sha256": sha256(bundle.data),
        "made_with": dict(bundle.made_with),
        "trust": verdict.trust,
        "items": [{"name": item.name, "status": str(item.status), "text": item.text} for item in verdict.items],
    }
    if not verdict.valid:
        wrong = [item for item in verdict.items if item.status is Status.FAILED]
        document["violations"] = [{"rule": ITEM, "message": f"{item.name}: {item.text}", "rows": []} for item in wrong]
    return document


def bundle_words(report: Mapping[str, Any]) -> str:
    """The report as text: a line for each item."""
    verdict = "valid" if report["valid"] else "invalid"
    what = "a joint schedule" if report["collective"] is None else collective_words(dict(report))
    about = "" if report["topology"] is None else f" of {what} on {one_line(report['topology'])}"
    lines = [f"{verdict}: bundle{about}{', a frontier' if report['kind'] == 'frontier' else ''}"]
    width = max(len(item["name"]) for item in report["items"])
    lines += [f"  {item['status']:<10}  {one_line(item['name']):<{width}}  {one_line(item['text'])}" for item in report["items"]]
    counts = [(str(status), sum(item["status"] == status for item in report["items"])) for status in _ORDER]
    return "\n".join([*lines, f"  {', '.join(f'{count} {status}' for status, count in counts if count)}"])
