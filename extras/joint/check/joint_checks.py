"""`verify_joint`: a joint schedule in, a verdict out. Nothing that it states about itself is trusted.

Each collective is checked as any schedule is, by the rules of `certree.verify`. The rules here are about what they share: links,
copy units and reduction units, counted in cycles of the run. `shared_routers` has the routers, in which their messages may wait for
each other.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from certree.extras.joint.check.joint_bounds import Least, Together, least
from certree.extras.joint.check.launches import holds_for
from certree.extras.joint.check.shared_routers import check_routers
from certree.extras.joint.model.collective_list import in_order
from certree.extras.joint.model.joint_schedule import JointSchedule, Part
from certree.models.common.errors import InputError
from certree.models.fine.slots import fine_times
from certree.models.network.topology import Topology
from certree.models.schedule.schedule_columns import Op
from certree.verify.bounds.witness import WitnessError
from certree.verify.checker import verify_schedule
from certree.verify.rule import Subject, rule
from certree.verify.rules.fine_slots import in_flight, link_uses, meetings, resource_text
from certree.verify.verdict import Findings, Verdict, Violation
from certree.verify.wording import network_text

Int64 = NDArray[np.int64]
_TESTS = "tests/extras/joint/check/test_joint_checks.py"


@dataclass(frozen=True)
class JointVerdict:
    """The violations of a joint schedule, and without any what its bounds say. `parts`: by name the verdict on a collective."""

    joint: JointSchedule
    violations: tuple[Violation, ...]
    counts: Mapping[str, int]
    least: Least | None
    parts: Mapping[str, Verdict]

    @property
    def valid(self) -> bool:
        """Whether no rule is broken."""
        return not self.counts


def verify_joint(joint: JointSchedule, topology: Topology | None = None) -> JointVerdict:
    """The verdict on a joint schedule: its collectives one by one, when they start, what they share, and its bounds.

    What they share includes the routers of its machine: messages of all of them must be free of deadlock, and in time or in any
    order. O(uses of links · log uses), and the checks of all schedules.

    Parameters
    ----------
    joint : JointSchedule
        What is verified.
    topology : Topology, optional
        The network that it is meant for.

    Returns
    -------
    JointVerdict

    Examples
    --------
    >>> import certree.api as ct
    >>> pair = [ct.Entry("a", ct.collective("broadcast", 0), 1024), ct.Entry("b", ct.collective("broadcast", 1), 1024)]
    >>> made = ct.joint("ring:3", pair)
    >>> ct.verify_joint(made).valid
    True
    """
    findings = Findings()
    parts: dict[str, Verdict] = {}
    if topology is not None and not topology.is_network_of(joint.topology):
        findings.add(
            "topology", 0, (), f"the schedule is for {network_text(joint.topology)}, which is not {network_text(topology)}"
        )
        return _verdict(joint, findings, None, parts)
    try:
        in_order(joint.entries)
    except InputError as error:
        findings.add("joint-form", 0, (), str(error))
        return _verdict(joint, findings, None, parts)
    for part in joint.parts:
        _check_form(joint, part, findings)
    if not findings.rules:
        for part in joint.parts:
            parts[part.name] = _check_part(part, findings)
    if not findings.rules:
        _check_starts(joint, findings)
        _check_late(joint, findings)
        _check_lanes(joint, findings)
        _check_units(joint, findings)
        _check_launches(joint, findings)
        check_routers(joint, findings)
    found = None
    if not findings.rules:
        try:
            found = least(Together(joint.topology, joint.machine, joint.entries), joint.bounds)
        except WitnessError as error:
            findings.add("joint-bound", 0, (), error.message)
    return _verdict(joint, findings, found, parts)


def _verdict(joint: JointSchedule, findings: Findings, found: Least | None, parts: Mapping[str, Verdict]) -> JointVerdict:
    verdict = findings.verdict()
    return JointVerdict(joint, verdict.violations, verdict.counts, found, parts)


@rule(
    "joint-form",
    "a collective of a joint schedule has a schedule of another network, collective, size or machine, or one without "
    "fine slots, with iterations, or with planned waits; two have one name; or they wait for each other in a circle",
    _TESTS,
    Subject.JOINT,
)
def _check_form(joint: JointSchedule, part: Part, findings: Findings) -> None:
    schedule, entry = part.schedule, part.entry
    made_for = schedule.made_for
    stated = entry.collective.fitted(joint.topology)
    wrong = None
    if schedule.topology is not joint.topology and not schedule.topology.is_network_of(joint.topology):
        wrong = f"its schedule is for another network than {joint.topology.name}"
    elif not schedule.has_fine_slots:
        wrong = "its schedule has no fine slots"
    elif schedule.collective.fitted(joint.topology) != stated:
        wrong = f"its schedule is of another collective: {schedule.collective.words}, not {stated.words}"
    elif made_for is None or made_for.machine != joint.machine:
        wrong = f"its schedule is for another machine than {joint.machine.name}"
    elif made_for.message_bytes != entry.size:
        wrong = f"its schedule is for {made_for.message_bytes} bytes, not {entry.size}"
    elif schedule.is_repeating or schedule.plans_waits or schedule.has_sizes:
        wrong = "its schedule has iterations, planned waits or blocks of several sizes"
    try:
        entry.require_members(joint.topology)
    except InputError as error:
        wrong = wrong or str(error)
    if wrong is not None:
        findings.add("joint-form", 0, (), f"{part.name}: {wrong}")


@rule("joint-part", "the schedule of a collective of a joint schedule is invalid by itself", _TESTS, Subject.JOINT)
def _check_part(part: Part, findings: Findings) -> Verdict:
    verdict = verify_schedule(part.schedule)
    for one in verdict.violations:
        findings.add("joint-part", part.begin, one.rows, f"{part.name}: {one.rule}: {one.message}")
    if not verdict.valid:
        findings.add_unlisted("joint-part", sum(verdict.counts.values()) - len(verdict.violations))
    return verdict


@rule(
    "joint-start",
    "a collective sends before the cycle in which it may start, or before all data of one that it waits for have landed",
    _TESTS,
    Subject.JOINT,
)
def _check_starts(joint: JointSchedule, findings: Findings) -> None:
    landed = {part.name: part.landed for part in joint.parts}
    for part in joint.parts:
        if part.first < part.entry.start:
            words = f"{part.name} sends in cycle {part.first}; it may start in cycle {part.entry.start}"
            findings.add("joint-start", part.begin, (), words)
        for other in part.entry.after:
            if part.first < landed[other]:
                words = f"{part.name} sends in cycle {part.first}; {other}, which it is after, has landed in cycle {landed[other]}"
                findings.add("joint-start", part.begin, (), words)


@rule(
    "joint-late",
    "a member that is late sends before the cycle from which on it takes part, or the head of a message to it is there before that;"
    " messages of others may pass its router",
    "tests/extras/joint/check/test_late.py",
    Subject.JOINT,
)
def _check_late(joint: JointSchedule, findings: Findings) -> None:
    for part in joint.parts:
        if not part.entry.late:
            continue
        schedule, release = part.schedule, part.entry.releases(len(joint.topology.kind))
        reached = part.fire + fine_times(schedule).latency
        wrong = np.flatnonzero((part.fire < release[schedule.src]) | (reached < release[schedule.dst]))

        def tell(
            row: int, part: Part = part, release: Int64 = release, reached: Int64 = reached
        ) -> tuple[int, tuple[int, ...], str]:
            src, dst = int(part.schedule.src[row]), int(part.schedule.dst[row])
            node = src if part.fire[row] < release[src] else dst
            what = f"sends in cycle {part.fire[row]}" if node == src else f"is reached in cycle {reached[row]}"
            return (
                int(part.fire[row]),
                (row,),
                f"{part.name} row {row}: node {node} {what}; it takes part from cycle {release[node]}",
            )

        findings.add_each("joint-late", wrong.tolist(), tell)


@rule(
    "joint-launch",
    "launches of which the order that is stated does not prove that all end",
    "tests/extras/joint/model/test_collective_list.py",
    Subject.JOINT,
)
def _check_launches(joint: JointSchedule, findings: Findings) -> None:
    if joint.launching is None:
        return
    wrong = "the order does not have every collective open at all its ranks when its turn comes"
    try:
        if holds_for(joint.topology, joint.entries, joint.launching):
            return
    except InputError as error:
        wrong = str(error)
    findings.add("joint-launch", 0, (), wrong)


@dataclass(frozen=True, eq=False)
class _Uses:
    """Times for which rows of parts take resources, ordered by (resource, start)."""

    part: Int64
    row: Int64
    resource: Int64
    start: Int64
    end: Int64

    @classmethod
    def of(cls, part: Int64, row: Int64, resource: Int64, start: Int64, end: Int64) -> "_Uses":
        order = np.lexsort((row, part, start, resource))
        return cls(*(column[order] for column in (part, row, resource, start, end)))


def _row_words(joint: JointSchedule, part: int, row: int) -> str:
    of = joint.parts[part]
    schedule = of.schedule
    sends = f"chunk {schedule.chunk[row]} from {schedule.src[row]} to {schedule.dst[row]}"
    return f"{of.name} row {row} ({sends}, fired in cycle {of.fire[row]})"


@rule(
    "joint-link",
    "messages of several collectives are on a link at a time, more than it has lanes, or two local transfers in one node",
    _TESTS,
    Subject.JOINT,
)
def _check_lanes(joint: JointSchedule, findings: Findings) -> None:
    columns, lanes = [], np.zeros(0, np.int64)
    for number, part in enumerate(joint.parts):
        if not part.schedule.transfers:
            continue
        row, resource, entry, lanes = link_uses(part.schedule)
        start = part.begin + entry
        columns.append((np.full(len(row), number), row, resource, start, start + fine_times(part.schedule).length[row]))
    if not columns:
        return
    uses = _Uses.of(*(np.concatenate(parts) for parts in zip(*columns, strict=True)))
    found = np.flatnonzero(in_flight(uses.resource, uses.start, uses.end) >= lanes[uses.resource])
    found = np.append(found, _without_choice(joint, uses, lanes))

    def tell(place: int) -> tuple[int, tuple[int, ...], str]:
        here = slice(max(0, place - 64), place)
        near = np.flatnonzero((uses.resource[here] == uses.resource[place]) & (uses.end[here] > uses.start[place])) + here.start
        others = [_row_words(joint, int(uses.part[one]), int(uses.row[one])) for one in near[-2:].tolist()]
        where = resource_text(joint.parts[0].schedule, int(uses.resource[place]))
        words = f"{_row_words(joint, int(uses.part[place]), int(uses.row[place]))} finds no lane of {where} free"
        return int(uses.start[place]), (int(uses.row[place]),), words + (f", by {' and '.join(others)}" if others else "")

    findings.add_each("joint-link", found[np.argsort(uses.start[found], kind="stable")].tolist(), tell)


def share_links(joint: JointSchedule) -> bool:
    """Whether messages of all collectives find lanes (rule `joint-link`). O(uses · log uses)."""
    findings = Findings()
    _check_lanes(joint, findings)
    return not findings.rules


def _without_choice(joint: JointSchedule, uses: _Uses, lanes: Int64) -> Int64:
    """Uses of pairs of nodes joined by parallel links, by messages that name none of them where others do, that may find no lane
    for all their time: as many others as there are lanes meet them. Those that name one have it, as their own resource says."""
    topology = joint.topology
    pairs = len(topology.pair_capacity)
    parallel = np.bincount(topology.pair_of_link, minlength=pairs) > 1
    links = np.flatnonzero((uses.resource >= pairs) & (uses.resource < pairs + len(topology.src)))
    named = topology.pair_of_link[uses.resource[links] - pairs]
    mixed = np.flatnonzero((uses.resource < pairs) & np.isin(uses.resource, named))
    mixed = mixed[parallel[uses.resource[mixed]]]
    if not len(mixed):
        return mixed
    width = int(uses.row.max()) + 1
    names = ((uses.part[links] * width + uses.row[links]) * pairs) + named
    free = ~np.isin((uses.part[mixed] * width + uses.row[mixed]) * pairs + uses.resource[mixed], names)
    met = meetings(uses.resource[mixed], uses.start[mixed], uses.end[mixed])
    return mixed[free & (met >= lanes[uses.resource[mixed]])]


@rule("joint-unit", "the reduction unit of a node has sums of several collectives at a time", _TESTS, Subject.JOINT)
def _check_units(joint: JointSchedule, findings: Findings) -> None:
    """Report sums that meet those of another collective: the times of a schedule count its own sums alone."""
    columns = []
    for number, part in enumerate(joint.parts):
        times = fine_times(part.schedule)
        rows = np.flatnonzero(part.schedule.op == Op.REDUCE)
        ready = part.begin + times.arrival[rows] + times.machine.reduce_start_cycles
        columns.append(
            (np.full(len(rows), number), rows, part.schedule.dst[rows].astype(np.int64), ready, part.begin + times.landing[rows])
        )
    uses = _Uses.of(*(np.concatenate(parts) for parts in zip(*columns, strict=True)))
    if not len(uses.row):
        return
    # the last sum so far of the node, and the last one of a collective other than that of this last one
    found, others, node, far = [], [], -1, [(-1, -1), (-1, -1)]
    for place, (part, resource, start, end) in enumerate(
        zip(*(column.tolist() for column in (uses.part, uses.resource, uses.start, uses.end)), strict=True)
    ):
        if resource != node:
            node, far = resource, [(-1, -1), (-1, -1)]
        rival = next((one for one in far if one[1] >= 0 and uses.part[one[1]] != part), (-1, -1))
        if rival[0] > start:
            found.append(place)
            others.append(rival[1])
        far = _latest([*far, (end, place)], uses.part)
    meets = dict(zip(found, others, strict=True))

    def tell(place: int) -> tuple[int, tuple[int, ...], str]:
        here, there = (_row_words(joint, int(uses.part[one]), int(uses.row[one])) for one in (place, meets[place]))
        words = f"node {uses.resource[place]}: the sum of {here} meets that of {there}"
        return int(uses.start[place]), (int(uses.row[place]),), words

    found.sort(key=lambda place: int(uses.start[place]))
    findings.add_each("joint-unit", found, tell)


def _latest(ends: list[tuple[int, int]], part: Int64) -> list[tuple[int, int]]:
    """The latest end, and the latest of another collective than that of the first."""
    ordered = sorted(ends, reverse=True)
    first = ordered[0]
    second = next((one for one in ordered[1:] if one[1] >= 0 and part[one[1]] != part[first[1]]), (-1, -1))
    return [first, second]
