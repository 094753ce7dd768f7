"""A simulated run of all collectives at once."""

from collections.abc import Iterator, Mapping

from certree.extras.bundles.evidence import EVIDENCE, Evidence, ItemResult, Opened, Source, Status, absent
from certree.extras.bundles.reading import RUNS
from certree.extras.joint.run.joint_run import joint_run_document, run_joint
from certree.models.common.errors import InputError, short
from certree.models.common.files import canonical_json

_RUN = f"{RUNS}/joint.json"


@EVIDENCE.register("joint-runs")
class JointRunsEvidence(Evidence):
    """simulated cycle by cycle with real data, all collectives at once end with their results after the stated cycles"""

    of, needs = "joint-schedule", ("joint", "joint-tables")
    by_hand = "`unzip F.certree joint.json && certree simulate joint.json`; `runs/joint.json` has what it printed with `--json`"

    def collect(self, source: Source) -> Mapping[str, bytes]:
        """The document of the run."""
        assert source.joint is not None
        if not source.runs:
            raise absent("none was asked for")
        done = run_joint(source.joint)
        if not done.holds:
            raise InputError(f"the run is not as the joint schedule says: {done.wrong or 'rows are late'}")
        return {_RUN: canonical_json(joint_run_document(source.joint, done))}

    def recheck(self, name: str, opened: Opened) -> Iterator[ItemResult]:
        """Run the joint schedule again and compare."""
        stated, done = opened.bundle.document(_RUN), run_joint(opened.joint)
        true = joint_run_document(opened.joint, done)
        if not isinstance(stated, dict) or stated.keys() != true.keys():
            yield ItemResult(name, Status.FAILED, f"{_RUN} does not have what a run has")
            return
        for key, value in true.items():
            if canonical_json(stated[key]) != canonical_json(value):
                yield ItemResult(name, Status.FAILED, f"states {key} = {short(stated[key])}; the run has {short(value)}")
                return
        if not done.holds:
            yield ItemResult(name, Status.FAILED, f"the run is not as the joint schedule says: {done.wrong or 'rows are late'}")
            return
        told = f"{done.cycles:,} cycles (as the closed form), data right in every collective; {done.engine} engine"
        yield ItemResult(name, Status.RERAN, f"{told}, without routers, machine {true['machine']}")
