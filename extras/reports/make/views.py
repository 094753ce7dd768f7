"""Views of schedules, bounds and runs: which picture `draw` makes of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from pathlib import Path
from typing import Any

from certree.api.checks.checking import Bounds, bound
from certree.api.settings import setting
from certree.extras.joint.model.joint_schedule import JointSchedule
from certree.models.common.errors import InputError, UnsupportedError, unknown_name
from certree.models.fine.timed_schedule import round_cycles
from certree.models.machine.machine import Machine
from certree.models.network.topology import Topology
from certree.models.schedule.collective import Collective
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule, written_out
from certree.models.schedule.timing import reduction_cycles, slotted
from certree.verify.checker import verify_schedule
from certree.verify.wording import network_text

MOST_MESSAGES = 2_000_000  # of a run whose waits are drawn: each use of a channel is recorded


@dataclass(frozen=True)
class Asked:
    """Options of `draw` that only some views use; see there."""

    chunks: Sequence[int] | None = None
    collective: Collective | None = None
    kind: str | None = None
    size: int | str | None = None
    machine: str | Path | Machine | None = None
    run: str = "slotted"
    without_routers: bool = False


def spacetime(schedule: AnySchedule, title: str, asked: Asked) -> str:
    """Channels over time, by chunk, with prologue and epilogue."""
    from certree.extras.reports.pictures.schedules.spacetime import spacetime_picture

    whole = written_out(schedule)
    return spacetime_picture(whole, title, round_words(whole, asked))


def trees(schedule: AnySchedule, title: str, asked: Asked) -> str:
    """The tree of each chunk over the network."""
    from certree.extras.reports.pictures.schedules.trees import trees_picture

    return trees_picture(written_out(schedule), title, asked.chunks)


def load(schedule: AnySchedule, title: str, _asked: Asked) -> str:
    """How busy each channel is."""
    from certree.extras.reports.pictures.schedules.load import load_picture

    return load_picture(written_out(schedule), title)


def reductions(schedule: AnySchedule, title: str, asked: Asked) -> str:
    """How busy the reduction units are, over time."""
    from certree.extras.reports.pictures.schedules.reductions import reductions_picture

    whole = written_out(schedule)
    used = setting(whole, asked.size, asked.machine)
    try:
        _, timing = slotted(whole, used.message_bytes, used.machine)
        busy = float(Fraction(reduction_cycles(timing.chunk_bytes, used.machine), timing.slot_cycles))
    except InputError:
        return reductions_picture(whole, title, round_words(whole, asked))
    return reductions_picture(whole, title, round_words(whole, asked), busy)


def violation(schedule: AnySchedule, title: str, _asked: Asked) -> str:
    """The step in which an invalid schedule breaks a rule."""
    from certree.extras.reports.pictures.schedules.violation import violation_picture

    verdict = verify_schedule(schedule)
    if verdict.valid:
        raise UnsupportedError(f"{title}: the schedule is valid, so there is no violation to draw")
    first = verdict.violations[0]
    total = sum(verdict.counts.values())
    more = f" (first of {total:,} violations)" if total > 1 else ""
    return violation_picture(written_out(schedule), f"{title}: invalid{more}", first.rule, first.message, first.rows)


def witness(schedule: AnySchedule, title: str, asked: Asked) -> str:
    """The witness of a bound of the schedule's certificate, by default of the best one on bandwidth time."""
    if not verify_schedule(schedule).valid:
        raise UnsupportedError(f"{title}: the schedule or its certificate is invalid, so there is no proved bound to draw")
    certificate = schedule.certificate or {}
    bounds = [*certificate.get("bounds", ()), *certificate.get("time", {}).get("bounds", ())]
    if not bounds:
        raise UnsupportedError(f"{title}: the schedule has no certificate; certree certify adds one")
    return bound_picture(schedule.topology, bounds, asked.kind, title)


def waits(schedule: AnySchedule, title: str, asked: Asked) -> str:
    """The view of the channels for which messages of a run waited."""
    from certree.extras.reports.pictures.schedules.waits import waits_by_channel, waits_picture
    from certree.hw.engines.runs import Options
    from certree.hw.run import run

    used = setting(schedule, asked.size, asked.machine)
    messages = schedule.transfers * schedule.repeats
    if messages > MOST_MESSAGES:
        raise UnsupportedError(f"{title}: {messages:,} messages; the waits of at most {MOST_MESSAGES:,} are drawn")
    found: list[dict[tuple[int, int], int]] = []
    options = Options(
        mode=asked.run,
        without_routers=asked.without_routers,
        observer=lambda engine: found.append(waits_by_channel(engine.core.trace(), engine.link_uses())),
    )
    ended = run(schedule, options, message_bytes=used.message_bytes, machine=used.machine)
    return waits_picture(schedule.topology, found[0], f"{title}: {asked.run} run, {ended.cycles:,} cycles")


#: name -> picture of a schedule
VIEWS: dict[str, Callable[[AnySchedule, str, Asked], str]] = {
    "spacetime": spacetime,
    "trees": trees,
    "load": load,
    "reductions": reductions,
    "bound": witness,
    "violation": violation,
    "waits": waits,
}


def schedule_picture(schedule: AnySchedule, view: str | None, title: str | None, asked: Asked) -> str:
    """The picture of a schedule: `view`, by default "spacetime", or "violation" of a schedule that breaks a rule."""
    if view is not None and view not in VIEWS:
        raise InputError(unknown_name("view of a schedule", view, list(VIEWS)))
    method = schedule.provenance.get("method")
    made = f", {method}" if isinstance(method, str) else ""
    name = title or f"{schedule.collective.words} on {schedule.topology.name}{made}"
    if view is None:
        view = "spacetime" if verify_schedule(schedule).valid else "violation"
    return VIEWS[view](schedule, name, asked)


def of_joint(joint: JointSchedule, view: str | None, title: str | None, asked: Asked, topology: Topology | None) -> str:
    """The picture of a joint schedule: all of its collectives over time. InputError for another network than `topology`, and for
    options of other views, since it states its collectives itself."""
    from certree.extras.reports.pictures.schedules.joint_spacetime import joint_picture

    if view not in (None, "spacetime"):
        names = ", ".join(part.name for part in joint.parts[:8])
        raise InputError(f"view {view!r} is for one collective, as FILE:NAME ({names}); a joint schedule has one: spacetime")
    if topology is not None and not topology.is_network_of(joint.topology):
        raise InputError(f"the joint schedule is for {network_text(joint.topology)}, which is not {network_text(topology)}")
    for one in fields(Asked):
        if getattr(asked, one.name) != one.default:
            raise InputError(f"{one.name}: not for a joint schedule, of which there is one picture; name a collective as FILE:NAME")
    return joint_picture(joint, title)


def network_bound(topology: Topology, title: str | None, asked: Asked) -> str:
    """The witness of a bound that is searched for."""
    found = bound(topology, asked.collective or "all-reduce", size=asked.size, machine=asked.machine)
    return bounds_picture(found, title, asked)


def bounds_picture(found: Bounds, title: str | None, asked: Asked) -> str:
    """The witness of one of the bounds found."""
    name = title or f"{found.collective.words} on {found.topology.name}"
    return bound_picture(found.topology, [*found.bounds, *found.time_bounds], asked.kind, name)


def bound_picture(topology: Topology, bounds: list[dict[str, Any]], kind: str | None, title: str) -> str:
    """The picture of the witness of `kind`, or of the strongest bound on bandwidth time."""
    from certree.extras.reports.pictures.bound_words import bound_words, claim_words
    from certree.extras.reports.pictures.witness import witness_picture

    known = list(dict.fromkeys(one["kind"] for one in bounds))
    if kind is not None and kind not in known:
        raise InputError(f"no bound of kind {kind!r} was found; there are: {', '.join(known)}")
    found = [one for one in bounds if (one["kind"] == kind if kind else one["quantity"] == "bandwidth")]
    best = max(found, key=lambda one: Fraction(one["value"]))
    return witness_picture(topology, best, f"{title}: {claim_words(topology, best)} ({best['kind']})", bound_words(topology, best))


def round_words(schedule: Schedule, asked: Asked) -> str:
    """How long a round is, for the axis of a picture: ` of 351 cycles (64 MiB, machine multitree)`; nothing where it is unknown."""
    from certree.api.reports.text import counted, one_line, size_words

    used = setting(schedule, asked.size, asked.machine)
    cycles = round_cycles(schedule, used.message_bytes, used.machine)
    if cycles is None:
        return ""
    return f" of {counted(cycles, 'cycles')} ({size_words(used.message_bytes)}, machine {one_line(used.machine.name)})"
