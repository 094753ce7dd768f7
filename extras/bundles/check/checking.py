"""Re-checking of bundles, item by item, without any solver."""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from certree.api.api_errors import InvalidBundleError
from certree.api.settings import Tell, silent
from certree.extras.bundles.evidence import TRUST, Evidence, ItemResult, Opened, Status, load_evidence
from certree.extras.bundles.model.bundle import PAGE, Bundle, load_bundle
from certree.extras.bundles.page import page
from certree.extras.bundles.reading import frontier, joint
from certree.extras.joint.model.joint_schedule import JointSchedule
from certree.models.common.errors import CertreeError, InputError, ToolMissingError, unknown_name
from certree.models.common.files import sha256
from certree.models.common.shown import Shown
from certree.models.network.topology import Topology
from certree.models.schedule.collective import Collective
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule
from certree.verify.exact.question import Question
from certree.verify.frontier.document import read_frontier
from certree.verify.wording import network_text


@dataclass(frozen=True, eq=False, repr=False)
class BundleVerdict(Shown):
    """The result of a check of a bundle. `items` has one for each item: re-checked, re-ran, trusted, absent, failed or skipped.

    `bundle`: the bundle itself, with its schedule and stored results. `trust`: "hashes" or "none".
    """

    bundle: Bundle
    trust: str
    items: tuple[ItemResult, ...]

    @property
    def valid(self) -> bool:
        """Whether no item failed."""
        return all(item.passed for item in self.items)

    def title(self) -> str:
        """Whether it is valid."""
        return "valid" if self.valid else "invalid"

    def facts(self) -> dict[str, object]:
        """The number of items of each status, and the first that failed."""
        counts = {str(status): sum(item.status is status for item in self.items) for status in Status}
        first = next((f"{item.name}: {item.text}" for item in self.items if not item.passed), None)
        return {status: count for status, count in counts.items() if count} | ({} if first is None else {"first": first})


def verify_bundle(
    source: str | Path | Bundle,
    *,
    trust: str = TRUST[0],
    topology: Topology | None = None,
    collective: Collective | None = None,
    tell: Tell = silent,
) -> BundleVerdict:
    """Re-check every item of a bundle.

    `trust`: "hashes" takes the results of TLC on trust once the hashes of modules and tool are right; "none" runs TLC again.
    `topology`, `collective`: what the bundle must be for, where they are given. `tell` receives a line for each model that TLC has
    checked. Wrong evidence does not raise: its item has failed. Raises InputError for files that are damaged or no bundles, and for
    evidence of unknown kinds, ToolMissingError where TLC is needed and missing.
    """
    if trust not in TRUST:
        raise InputError(unknown_name("trust", trust, TRUST))
    opened = Opened(source if isinstance(source, Bundle) else load_bundle(Path(source)), trust, tell)
    bundle, known = opened.bundle, load_evidence(opened.bundle.kind)
    for item in bundle.items:
        if item.name not in known:
            made = bundle.made_with.get("certree", "an unknown version")
            kind = unknown_name("item of evidence", item.name, known)
            raise InputError(f"{bundle.source} was made with certree {made}: {kind}")
    opened.results.append(_archive(bundle))
    opened.results.extend(_as_asked(opened, topology, collective))
    for name, evidence in known.items():
        opened.results.extend(_checked(name, evidence, opened))
    opened.results.extend(_origin(bundle))
    return BundleVerdict(bundle, trust, tuple(opened.results))


def require_valid(verdict: BundleVerdict) -> Bundle:
    """The bundle, if it is valid; otherwise InvalidBundleError with the first item that failed."""
    for item in verdict.items:
        if not item.passed:
            raise InvalidBundleError(f"{verdict.bundle.source} is invalid: {item.name}: {item.text}")
    return verdict.bundle


def _archive(bundle: Bundle) -> ItemResult:
    count, data = len(bundle.members) + 1, bundle.data
    told = f"{count} members, {len(data):,} bytes, each as bundle.json states it; SHA-256 {sha256(data)}"
    return ItemResult("archive", Status.RECHECKED, told)


def _checked(name: str, evidence: Evidence, opened: Opened) -> Iterator[ItemResult]:
    """The results of one item; it is skipped where an item failed that it needs."""
    failed = [one.name.partition(":")[0] for one in opened.results if not one.passed]
    if blocking := [other for other in evidence.needs if other in failed]:
        yield ItemResult(name, Status.SKIPPED, f"not checked, since {blocking[0]} failed")
        return
    item = opened.bundle.item(name)
    try:
        if item.absent is None:
            yield from evidence.recheck(name, opened)
        else:
            yield from evidence.recheck_absence(name, item, opened)
    except ToolMissingError:
        raise
    except CertreeError as error:
        yield ItemResult(name, Status.FAILED, str(error))


def subject_of(bundle: Bundle) -> AnySchedule | Question | JointSchedule | None:
    """The part of a bundle that has its network, and the collective where it is of one: its schedule, the question of its frontier,
    or its joint schedule; None where they cannot be read."""
    try:
        if bundle.kind == "joint-schedule":
            return joint(bundle)
        return bundle.schedule if bundle.kind == "schedule" else read_frontier(frontier(bundle), bundle.source)[0]
    except CertreeError:
        return None


def _as_asked(opened: Opened, topology: Topology | None, collective: Collective | None) -> Iterator[ItemResult]:
    """A failed item where the subject is not the one that was asked for."""
    subject = subject_of(opened.bundle)
    if subject is not None and topology is not None and not topology.is_network_of(subject.topology):
        told = f"the bundle is for {network_text(subject.topology)}, which is not {network_text(topology)} link by link"
        yield ItemResult("topology", Status.FAILED, told)
    if subject is None or collective is None:
        return
    if isinstance(subject, JointSchedule):
        raise InputError(f"{opened.bundle.source}: a joint schedule states the collectives; it is not checked for one")
    if collective != subject.collective:
        raise InputError(f"{opened.bundle.source}: the collective is {subject.collective.words}, not {collective.words}")


def _origin(bundle: Bundle) -> Iterator[ItemResult]:
    """The statements of a bundle about its making."""
    made_with = dict(bundle.made_with)
    if made_with.get("certree") == version("certree"):
        same = bundle.members[PAGE] == page(bundle.kind, bundle.items, made_with)
        told = "as this certree writes it" if same else "it is not the page that this certree writes for these items"
        yield ItemResult(PAGE, Status.RECHECKED if same else Status.FAILED, told)
    else:
        yield ItemResult(
            PAGE, Status.TRUSTED, f"a page for people; that of certree {made_with.get('certree')} may read differently"
        )
    versions = ", ".join(f"{name} {text}" for name, text in made_with.items())
    yield ItemResult("origin", Status.TRUSTED, f"made with {versions}; notes on the method are the schedule's own")
