"""Bundles among the artefacts that every command reads."""

from collections.abc import Mapping
from typing import Any, ClassVar

from certree.api.artefacts import Artefact, Asked, Checked, artefact
from certree.extras.bundles.check.checking import require_valid, verify_bundle
from certree.extras.bundles.check.documents import ITEM, bundle_report, bundle_words
from certree.extras.bundles.evidence import TRUST
from certree.extras.bundles.model.bundle import FRONTIER, JOINT, SUFFIX, load_bundle, starts_as_bundle
from certree.extras.bundles.reading import frontier, joint
from certree.models.common.files import Opened
from certree.models.schedule.schedule_file import SUFFIXES
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule

MEMBERS = {"frontier": FRONTIER, "joint-schedule": JOINT}  # what `import` takes out, by the kind of the bundle
_OWN = "a bundle states its size and machine; others do not apply"


@artefact("bundle")
class BundleFile(Artefact):
    """A bundle of evidence: a schedule, a frontier or a joint schedule with everything that shows that it is right."""

    is_more = True
    own_endings = (SUFFIX,)
    imports = SUFFIXES
    refuses: ClassVar[Mapping[str, str]] = {
        "size": _OWN,
        "machine": _OWN,
        "route": "routes are asked for, which only a CSV may leave open; a bundle states its routes",
    }
    rules: ClassVar[Mapping[str, str]] = {ITEM: "an item of evidence in a bundle is wrong"}

    def matches(self, opened: Opened) -> bool:
        """Whether the first member of an archive is that of a bundle."""
        return starts_as_bundle(opened.start)

    def load(self, opened: Opened, asked: Asked) -> Any:
        """The schedule or joint schedule in it, or the document of its frontier; `ct.read_bundle` returns the bundle itself."""
        bundle = load_bundle(opened)
        if bundle.kind == "joint-schedule":
            return joint(bundle)
        return bundle.schedule if bundle.kind == "schedule" else frontier(bundle)

    def schedule(self, opened: Opened, asked: Asked) -> AnySchedule:
        """The schedule in it."""
        return load_bundle(opened).schedule

    def verify(self, opened: Opened, asked: Asked) -> Checked:
        """Every item, re-checked, run again or taken on trust."""
        trust = asked.trust or TRUST[0]
        bundle = load_bundle(opened)
        verdict = verify_bundle(bundle, trust=trust, topology=asked.topology, collective=asked.collective, tell=asked.tell)
        result = None
        if verdict.valid:
            result = bundle.schedule if bundle.kind == "schedule" else bundle.members[MEMBERS[bundle.kind]]
        then = ("import", opened.path, "-o", "schedule.json")
        return Checked(verdict, lambda tell: bundle_report(verdict), bundle_words, "bundle", then, result=result)

    def import_suffixes(self, opened: Opened) -> tuple[str, ...]:
        """Frontiers and joint schedules are JSON, zipped or not."""
        return SUFFIXES if load_bundle(opened).kind == "schedule" else SUFFIXES[:2]

    def require_valid(self, checked: Checked) -> AnySchedule:
        """The schedule in a valid bundle; InvalidBundleError with the first item that failed."""
        return require_valid(checked.verdict).schedule
