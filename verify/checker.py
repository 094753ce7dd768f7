"""`verify_schedule`: a schedule in, a verdict out. Nothing that the schedule says of itself is taken on trust."""

from certree.models.network.topology import Topology
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.symmetric import AnySchedule, SymmetricSchedule
from certree.verify.certificates.certificate import check_certificate
from certree.verify.rule import Subject, checks, rule
from certree.verify.rules.contention import serialized_rounds
from certree.verify.rules.symmetry import check_images
from certree.verify.verdict import Findings, Verdict
from certree.verify.wording import network_text


@rule(
    "topology",
    "the schedule was made for another network than the one asked for",
    "ring:3 broadcast@0 asked=mesh:1x3: copy 0 0>1 @0; copy 0 1>2 @1",
)
def verify_schedule(schedule: AnySchedule, *, topology: Topology | None = None) -> Verdict:
    """Everything about a schedule: wiring, contention, the abstract machine, the certificate if it has one.

    A symmetric schedule is judged on its base, which its violations speak of (`verify.rules.symmetry`). `topology`: what the
    schedule is meant for; rule `topology` when it was made for another one. The rules are listed in `docs/reference/rules.md`.
    O(transfers · (log transfers + endpoints / 64)), independent of `repeats`; of trees O(transfers).
    """
    findings = Findings()
    if topology is not None and topology.digest != schedule.topology.digest:
        made_for = f"the schedule is for {network_text(schedule.topology)} ({_size(schedule.topology)}), which is not"
        findings.add("topology", 0, (), f"{made_for} {network_text(topology)} ({_size(topology)}) node by node and link by link")
        return findings.verdict()
    if isinstance(schedule, SymmetricSchedule):
        check_images(schedule, findings)
    else:
        check_transfers(schedule, findings)
    return findings.verdict(check_certificate(schedule, findings))


def check_transfers(schedule: Schedule, findings: Findings) -> None:
    """Report whatever is wrong with the transfers themselves: every check of `certree.verify.rules`, stage by stage."""
    for entry in checks(Subject.SCHEDULES):
        entry.run(schedule, findings)
    if findings.rules & {"capacity", "period"} and not findings.rules & {"self", "link"}:
        findings.serialized_rounds = serialized_rounds(schedule)


def _size(topology: Topology) -> str:
    return f"{len(topology.endpoints)} endpoints, {len(topology.src)} links"
