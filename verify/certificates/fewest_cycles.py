"""The claim that no schedule with fine slots ends in fewer cycles, for the size and machine of the schedule.

    {"cycles": T, "refuted": [{"chunks": k, "granules": g, "proof": {"kind": "drat", ...}}, ...]}

in a certificate states: an all-reduce of the message takes T cycles at least on that machine, in equal chunks, whatever their
number, slots, buffers, routes, waits and iterations. T is the number of cycles of the schedule. Each entry refutes runs of at least
k chunks of at least g granules in T - 1 cycles (`verify.exact.encoding.run_encoder`). A message of G granules in K chunks has
chunks of at least ⌈G ÷ K⌉. So for each K up to G an entry with k <= K and g <= ⌈G ÷ K⌉ is needed; more than G chunks have at least
one granule each, as G chunks have. No solver is needed to check it.
"""

from collections.abc import Iterable
from functools import partial
from typing import Any

from certree.models.common.errors import InputError, UnsupportedError
from certree.models.common.fields import Fields
from certree.models.fine.slots import fine_times
from certree.models.forms.lowering_chain import takes
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule
from certree.models.schedule.timing import ceil_div
from certree.verify.exact.encoding.run_encoder import RunEncoder
from certree.verify.exact.formula import Formula
from certree.verify.exact.refutations.refutation import Document, check_lines
from certree.verify.exact.run_question import RunQuestion
from certree.verify.exact.rup import ProofError, malformed
from certree.verify.rule import Subject, rule

CLAIMED = takes("claims of fewest cycles", "slot_cycles", "virtual_channel", "waits", "buffers")
MAX_GRANULES = 1 << 12
_LINES = ("formula", "sha256", "lines")


def granules_of(schedule: Schedule) -> int:
    """The number of granules of the message. UnsupportedError for schedules that the claim does not cover: those without fine
    slots, of networks whose rates are rounded, of other collectives, of members or unequal chunks, and of messages of more than
    MAX_GRANULES granules."""
    CLAIMED.require(schedule)
    if not schedule.has_fine_slots or schedule.made_for is None:
        raise UnsupportedError("the fewest cycles are claimed for schedules with fine slots")
    if schedule.collective.kind is not CollectiveKind.ALL_REDUCE or schedule.has_sizes:
        raise UnsupportedError("the fewest cycles are claimed for an all-reduce in equal chunks")
    schedule.collective.require_everyone("a claim of fewest cycles")
    if schedule.topology.rates is not None:
        raise UnsupportedError("the fewest cycles are not claimed where rates are rounded: other units may be faster")
    granules = ceil_div(schedule.made_for.message_bytes, schedule.made_for.machine.flit_bytes)
    if granules > MAX_GRANULES:
        raise UnsupportedError(f"the fewest cycles are claimed for up to {MAX_GRANULES} granules; the message has {granules}")
    return granules


def asked_before(schedule: Schedule, chunks: int, granules: int, cycles: int | None = None) -> RunQuestion:
    """The question whether this number of chunks, of this number of granules each, takes fewer cycles than the schedule, or at most
    `cycles`."""
    assert schedule.made_for is not None
    before = fine_times(schedule).cycles - 1 if cycles is None else cycles
    return RunQuestion(schedule.topology, schedule.made_for.machine, chunks, granules, before)


def uncovered(granules: int, refuted: Iterable[tuple[int, int]]) -> list[int]:
    """The numbers of chunks, up to that of the granules, that no (chunks, granules) among these covers."""
    pairs = list(refuted)
    return [
        chunks
        for chunks in range(1, granules + 1)
        if not any(least <= chunks and each <= ceil_div(granules, chunks) for least, each in pairs)
    ]


@rule(
    "cycles-open",
    "fewer cycles are not refuted for some number of chunks",
    "tests/verify/certificates/test_fewest_cycles.py",
    Subject.PROOFS,
)
def check_cycles(schedule: AnySchedule, claim: Any) -> int:
    """The number of cycles that are proved to be the fewest; otherwise ProofError with the broken rule."""
    fields = Fields(claim, "fewest_cycles", malformed).only("cycles", "refuted")
    try:
        if not isinstance(schedule, Schedule):
            raise UnsupportedError("the fewest cycles cannot be claimed for a schedule stored as one tree and a group")
        granules, cycles = granules_of(schedule), fine_times(schedule).cycles
    except InputError as error:
        raise ProofError("proof-foreign", str(error)) from None
    if fields.whole("cycles") != cycles:
        raise ProofError("proof-foreign", f"fewest_cycles is about {claim['cycles']} cycles, not {cycles}")
    found = []
    for entry in fields.tables("refuted"):
        pair = entry.only("chunks", "granules", "proof").whole("chunks", 1, granules), entry.whole("granules", 1, granules)
        found.append(pair)
        proof = entry.table_of("proof").only("kind", *_LINES)
        proof.text("kind", known=["drat"])
        about = "{} chunks of {} granules".format(*pair)
        check_lines(proof.table, partial(_formula, schedule, *pair), about)
    if left := uncovered(granules, found):
        raise ProofError(
            "cycles-open", f"a message of {granules} granules in {left[0]} chunks is not refuted in {cycles - 1} cycles"
        )
    return cycles


def _formula(schedule: Schedule, chunks: int, granules: int) -> Formula:
    return RunEncoder(asked_before(schedule, chunks, granules)).formula


def cycles_claim(schedule: Schedule, refuted: list[Document]) -> Document:
    """The claim, as stored in a certificate."""
    return {"cycles": fine_times(schedule).cycles, "refuted": refuted}
