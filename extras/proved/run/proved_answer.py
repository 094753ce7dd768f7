"""The answer of the proved checker on a schedule, next to that of the checker."""

import resource
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from certree.api.api_errors import DisagreementError
from certree.api.artefacts import Checked
from certree.api.settings import Tell
from certree.extras.proved.run.numbers_of_schedule import covered, numbers_of
from certree.extras.proved.run.proved_program import proved_program
from certree.models.common.budget import budgeted, hold, spend
from certree.models.common.errors import InputError, UndecidedError, UnsupportedError
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule, written_out
from certree.models.schedule.unit_rounds import in_unit_rounds
from certree.verify.order.agreement import race_words
from certree.verify.order.races import race_of
from certree.verify.verdict import Verdict

#: the rules that say of which schedules the theorem speaks: what breaks one of them the proved checker must refuse
RULES = frozenset(
    (
        "capacity",
        "causality",
        "demand",
        "duplicate",
        "in-flight",
        "link",
        "missing",
        "not-held",
        "original-lost",
        "overwritten",
        "period",
        "self",
        "shares",
        "write-conflict",
    )
)
# For each row. Measured with 256 ranks: 17 microseconds and 2.3 KB for a transfer, its sets included; a step is about 10 ns, a bit
# at most 8.
_STEPS, _BYTES = 1 << 11, 1 << 10

#: what the answer says of additions
_ALIKE = {
    "one": "; in slots all sums are made by the same additions",
    "each": "; in slots each sum is made by the same additions at all ranks",
    "none": "",
    None: "",
}


@dataclass(frozen=True)
class ProvedAnswer:
    """The answer of the proved checker. `right`: the schedule is right, as `specs/proved/Definitions.v` defines it; the theorem
    `check_sound` says so. `any_timing`: of one that is right, whether interfaces that know no time execute it right, as the theorem
    `lockstep_sound` says; None where chains of waits were not followed, beyond 2,048 transfers, and for iterations of which no
    tables can be made. The theorem gives each iteration cells of its own: `shared` says which work cell iterations share, where
    this alone makes `any_timing` false. `additions`: what `order_sound` says of sums in slots: "one" where all are made by the same
    additions in every run, "each" where each is at all its ranks, "none" where neither is known; None where nothing is summed up,
    and beyond 2^24 contributions to all sums together.
    `parts`: of a schedule that it does not accept, by name the checks and whether each accepts."""

    right: bool
    parts: Mapping[str, bool]
    any_timing: bool | None = None
    additions: str | None = None
    shared: str | None = None

    @property
    def words(self) -> str:
        """The answer as text."""
        if self.right:
            timed = {True: ", and at any timing", False: ", in slots", None: ""}[self.any_timing]
            shared = f": {self.shared}" if self.shared else ""
            alike = _ALIKE[self.additions]
            return f"proved checker: right in every run, for every commutative and associative operation{timed}{shared}{alike}"
        return f"proved checker: not accepted: {', '.join(name for name, accepts in self.parts.items() if not accepts)}"


@budgeted()
def prove(schedule: AnySchedule, *, in_flight: int | None = None) -> ProvedAnswer:
    """The answer of the proved checker, whose program is compiled when it is first asked for.

    Parameters
    ----------
    schedule : Schedule or SymmetricSchedule
        In equal slots; a symmetric one is written out.
    in_flight : int, optional
        W of its tables (`docs/reference/tables.md`, D6), at least 1: iterations i and i + W share work cells. By default the
        exporter's.

    Returns
    -------
    ProvedAnswer

    Raises
    ------
    InputError
        For an `in_flight` that is not a whole number from 1 to the iterations of the schedule.
    UnsupportedError
        For fine slots.
    UndecidedError
        Where it would take more steps or memory than the budget of a file has.
    ToolMissingError
        Without Coq or OCaml.

    Examples
    --------
    >>> import certree.api as ct
    >>> ct.prove(ct.synthesize("ring:4", method="ring")).right  # doctest: +SKIP
    True
    """
    if in_flight is not None:
        most = written_out(schedule).repeats
        if type(in_flight) is not int or not 1 <= in_flight <= most:
            raise InputError(
                f"in_flight is {in_flight!r}; allowed: a whole number from 1 to {most}, the iterations of the schedule"
            )
    return prove_all([schedule], [in_flight])[0]


def prove_all(schedules: Sequence[AnySchedule], in_flight: Sequence[int | None] | None = None) -> list[ProvedAnswer]:
    """The answers on several schedules, by one process; `in_flight` and errors as `prove`."""
    plans = [covered(schedule) for schedule in schedules]
    for plan in plans:
        _require_small(plan)
    program = proved_program()
    unlimited = resource.getrlimit(resource.RLIMIT_STACK)[1]  # lists are as deep as they are long
    done = subprocess.run(
        [program],
        input=b"".join(map(numbers_of, plans)),
        capture_output=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_STACK, (unlimited, unlimited)),
    )
    lines = done.stdout.decode().splitlines()
    if done.returncode or len(lines) != len(plans):
        said = done.stderr.decode(errors="replace").strip()[:200]
        raise UndecidedError(f"undecided: the proved checker gave no answer: {said or f'exit code {done.returncode}'}")
    windows = [None] * len(plans) if in_flight is None else in_flight
    return [_with_iterations(_answer(line.split()), plan, w) for line, plan, w in zip(lines, plans, windows, strict=True)]


def _answer(words: Sequence[str]) -> ProvedAnswer:
    said = dict(zip(words[::2], words[1::2], strict=True))
    additions = said.pop("additions", None)
    parts = {name: answer == "true" for name, answer in said.items()}
    return ProvedAnswer(parts.pop("right"), parts, any_timing=parts.pop("waits", None), additions=additions)


def _with_iterations(answer: ProvedAnswer, plan: Schedule, in_flight: int | None) -> ProvedAnswer:
    """The answer on a schedule whose iterations may share work cells: the definitions give each iteration its own."""
    if not (answer.any_timing and plan.is_repeating):
        return answer
    try:
        plan = in_unit_rounds(plan)
    except UnsupportedError:  # it has no tables, and nothing says which iterations would share cells
        return replace(answer, any_timing=None)
    race = race_of(plan, in_flight)
    if race is None or race.second is not None:
        return answer
    return replace(answer, any_timing=False, shared=race_words(race, plan))


def with_proved_answer(checked: Checked) -> Checked:
    """The result of the check of an artefact, with the answer of the proved checker in its report.

    DisagreementError where one of the two accepts what the other one must refuse; other errors as `prove`.
    """
    tables, verdict = checked.tables, checked.verdict
    answer = prove(checked.schedule, in_flight=None if tables is None else tables.in_flight)
    if isinstance(verdict, Verdict):
        broken = sorted(RULES & verdict.counts.keys())
        if verdict.valid and not answer.right:
            raise DisagreementError(f"the checker accepts the schedule; {answer.words}")
        if broken and answer.right:
            raise DisagreementError(f"the checker finds rule {broken[0]} broken; {answer.words}")
    return replace(checked, report=_reporting(checked.report, answer), words=_wording(checked.words))


def _reporting(report: Callable[[Tell], dict[str, Any]], answer: ProvedAnswer) -> Callable[[Tell], dict[str, Any]]:
    def with_answer(tell: Tell) -> dict[str, Any]:
        document = report(tell)
        said = {"any_timing": answer.any_timing, "shared": answer.shared, "additions": answer.additions}
        proved = {"right": answer.right, **said, **answer.parts}
        return document | {"valid": document["valid"] and answer.right, "proved": proved}

    return with_answer


def _wording(words: Callable[[Any], str]) -> Callable[[Any], str]:
    def with_answer(document: Any) -> str:
        parts = dict(document["proved"])
        said = [parts.pop(name) for name in ("any_timing", "additions", "shared")]
        answer = ProvedAnswer(parts.pop("right"), parts, *said)
        return f"{words(document)}\n  {answer.words}"

    return with_answer


def _require_small(plan: Schedule) -> None:
    """Raise UndecidedError for a schedule that is too large. Iterations count once for each stage of the schedule; a set of
    contributions has a bit for each node, and the nodes of a route are compared with each other. O(transfers)."""
    topology, reduces = plan.topology, plan.collective.reduces
    nodes, ranks = len(topology.kind), len(plan.collective.members_of(topology))
    stages = min(plan.repeats, 1 + (plan.steps - 1) // (plan.period or plan.steps))
    hops = np.array([*map(len, plan.routes), 1], np.int64)[plan.route]  # the last entry is that of rows without a route
    cells = plan.chunks * (ranks if plan.chunk_target is None else 1)  # where something is due
    bits = (plan.transfers + cells + ranks) * (nodes if reduces else 1)
    pairs = ranks**2 if plan.collective.kind is CollectiveKind.ALL_TO_ALL and plan.collective.demand is None else 0
    rows = plan.transfers + int(hops.sum()) * stages + cells + nodes + len(topology.src) + plan.steps
    what = f"the proved checker, {plan.transfers:,} transfers among {ranks:,} ranks"
    spend(rows * _STEPS + 8 * bits + 100 * pairs + int((hops**2).sum()), what)
    hold(rows * _BYTES + 16 * (plan.transfers + 1) * (nodes if reduces else 1), what)
