"""Whether a schedule answers the question of a point on the frontier."""

from certree.models.network.routing import DIRECT
from certree.models.network.topology import NodeKind
from certree.models.schedule.schedule import Schedule
from certree.verify.checker import verify_schedule
from certree.verify.exact.question import Question
from certree.verify.exact.rows import most_stored, shares_of
from certree.verify.wording import network_text


def why_not(question: Question, schedule: Schedule) -> str | None:
    """Why a schedule does not answer a question, or None when it does; fewer rounds than asked for are allowed."""
    slots = question.slots if question.slots and question.slots.topology.digest == schedule.topology.digest else None
    if (not slots and schedule.topology.digest != question.topology.digest) or schedule.collective != question.collective:
        return f"the schedule is of {schedule.collective.words} on {network_text(schedule.topology)}, not for this frontier"
    if schedule.version_2_fields:
        return f"the schedule uses {schedule.version_2_fields[0]} (version 2), which frontiers do not"
    shape = (schedule.steps, rounds_of(schedule), schedule.delay, schedule.period)
    if shape[1] > question.rounds or (shape[0], *shape[2:]) != (question.steps, 1, None):
        return f"the schedule has {shape[0]} steps, {shape[1]} rounds, delay {shape[2]}, period {shape[3]}"
    wanted = question.chunks if question.is_sum else question.spread_chunks
    if schedule.chunks != wanted:
        return f"the schedule has {schedule.chunks} chunks, not {wanted}"
    if not question.is_sum and shares_of(schedule) != {question.chunks}:
        return "the schedule's chunks are not shared out equally"
    inner = [
        int(schedule.topology.dst[link])
        for index in sorted(set(schedule.route.tolist()) - {DIRECT})
        for link in schedule.routes[index][:-1]
    ]
    if any(schedule.topology.kind[node] != NodeKind.SWITCH for node in inner):
        return "a transfer passes an endpoint within its step, which the machine of the frontier does not"
    verdict = verify_schedule(schedule)  # with its certificate, if there is one
    if not verdict.valid:
        return f"{verdict.violations[0].rule}: {verdict.violations[0].message}"
    if question.memory is not None and (stored := most_stored(question, schedule)) > question.memory:
        return f"a cell has to store {stored} chunks, more than {question.memory}"
    if question.scratch is not None and question.is_limited:
        stored = most_stored(question, schedule, passing=True)
        if stored > question.scratch:
            return f"a cell has to store {stored} chunks in passing, more than {question.scratch}"
    return slots.fault(schedule) if slots else None


def rounds_of(schedule: Schedule) -> int:
    """The number of rounds of all steps of one iteration."""
    return int(schedule.rounds.sum())
