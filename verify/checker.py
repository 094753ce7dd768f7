"""`verify_schedule`: a schedule in, a verdict out. Nothing that the schedule states about itself is trusted."""

from certree.models.common.budget import budgeted
from certree.models.network.topology import Topology
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule, SymmetricSchedule
from certree.verify.certificates.certificate import check_certificate
from certree.verify.rule import STRUCTURAL, Subject, rule, run_checks
from certree.verify.rules.contention import serialized_rounds
from certree.verify.rules.symmetry_rules import check_images
from certree.verify.verdict import Findings, Verdict
from certree.verify.wording import network_text


@budgeted()
@rule(
    "topology",
    "the schedule is for a network other than the requested one",
    "ring:3 broadcast@0 asked=mesh:1x3: copy 0 0>1 @0; copy 0 1>2 @1",
)
def verify_schedule(schedule: AnySchedule, *, topology: Topology | None = None) -> Verdict:
    """The verdict on a schedule: wiring, contention, the abstract machine, and the certificate if there is one. Where the wiring is
    wrong, the later analyses are skipped.

    A symmetric schedule is checked on its base, and its violations name base rows (`verify.rules.symmetry_rules`). `topology`: the
    network that the schedule is meant for; the rule `topology` is broken when it is for another one. `docs/reference/rules.md`
    lists the rules. O(transfers · (log transfers + endpoints / 64)), independent of `repeats`; for trees O(transfers).
    """
    findings = Findings()
    if topology is not None and not topology.is_network_of(schedule.topology):
        made_for = f"the schedule is for {network_text(schedule.topology)} ({_size(schedule.topology)}), which is not"
        findings.add("topology", 0, (), f"{made_for} {network_text(topology)} ({_size(topology)}) node by node and link by link")
        return findings.verdict()
    if isinstance(schedule, SymmetricSchedule):
        check_images(schedule, findings)
    else:
        check_transfers(schedule, findings)
    if findings.rules & STRUCTURAL or (schedule.has_fine_slots and findings.rules & {"automorphism", "regular"}):
        return findings.verdict()
    return findings.verdict(check_certificate(schedule, findings))


def check_transfers(schedule: Schedule, findings: Findings) -> None:
    """Report the violations of the transfers: every check of `certree.verify.rules`, stage by stage (`run_checks`)."""
    run_checks(Subject.SCHEDULES, schedule, findings)
    if findings.rules & {"capacity", "period"}:
        findings.serialized_rounds = serialized_rounds(schedule)


def _size(topology: Topology) -> str:
    return f"{len(topology.endpoints)} endpoints, {len(topology.src)} links"
