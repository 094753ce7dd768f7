"""A joint schedule."""

from collections.abc import Iterator, Mapping

from certree.api.reports.text import counted
from certree.extras.bundles.evidence import EVIDENCE, Evidence, ItemResult, Opened, Source, Status
from certree.extras.bundles.model.bundle import JOINT
from certree.extras.joint.check.joint_checks import verify_joint
from certree.extras.joint.model.joint_file import joint_document
from certree.models.common.files import canonical_json


@EVIDENCE.register("joint")
class JointEvidence(Evidence):
    """each collective ends with its data right, nothing of two collectives meets, and no schedule of all ends before its bound"""

    of, needs = "joint-schedule", ()
    by_hand = "`unzip F.certree joint.json && certree verify joint.json`"

    def collect(self, source: Source) -> Mapping[str, bytes]:
        """The document of the joint schedule, with its bounds."""
        assert source.joint is not None
        return {JOINT: canonical_json(joint_document(source.joint))}

    def recheck(self, name: str, opened: Opened) -> Iterator[ItemResult]:
        """Check the rules for joint schedules: each collective, what they share, launches, and each bound by its lengths."""
        joint = opened.joint
        verdict = verify_joint(joint)
        if verdict.least is None:
            first = verdict.violations[0]
            yield ItemResult(name, Status.FAILED, f"{first.rule}: {first.message}")
            return
        transfers = sum(part.schedule.transfers for part in joint.parts)
        told = f"{counted(len(joint.parts), 'collectives')}, {transfers:,} transfers; all end after {joint.cycles:,} cycles"
        late = sum(len(part.entry.late) for part in joint.parts)
        told += f"; {counted(late, 'late members')}" if late else ""
        yield ItemResult(f"{name}: collectives", Status.RECHECKED, told)
        told = f"{counted(len(joint.bounds), 'bounds')}: at least {verdict.least.cycles:,} cycles; sum of weighted ends at least"
        yield ItemResult(f"{name}: bounds", Status.RECHECKED, f"{told} {verdict.least.weighted_ends:,}")
        if joint.launching is not None:
            told = f"with {counted(joint.launching.contexts, 'contexts')} all launches end, whatever starts late"
            yield ItemResult(f"{name}: launches", Status.RECHECKED, told)
