"""Reports on schedules: the JSON document that scripts rely on, and the same in words."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from certree.api.reports.exact_report import exact_keys, exact_words, gap_answer
from certree.api.reports.order_report import order_of, order_words
from certree.api.reports.text import (
    QUANTITIES,
    UNITS,
    clock_words,
    collective_words,
    counted,
    decimal_words,
    gap_words,
    kind_words,
    one_line,
    rounded_of,
    rounded_words,
    run_times,
    size_words,
)
from certree.api.reports.time_bounds import ANY_SHARES, TIME_BOUND, over_bounds, time_bound
from certree.models.common.errors import InputError
from certree.models.fine.fine_tolerance import drift_tolerance, skew_tolerance
from certree.models.fine.timed_schedule import timed
from certree.models.machine.machine import Machine
from certree.models.schedule.collective import Collective
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule, SymmetricSchedule
from certree.verify.bounds.classes import shares_term
from certree.verify.bounds.instance import Instance
from certree.verify.certificates.certificate import claim_document
from certree.verify.deadlock.freedom import channels_of_schedule
from certree.verify.order.agreement import agreement_of_schedule
from certree.verify.rule import STRUCTURAL
from certree.verify.verdict import Quality, Verdict


def closed_form(schedule: AnySchedule, message_bytes: int, machine: Machine, slot_cycles: int | None = None) -> dict[str, Any]:
    """The key `time_cycles` of a valid schedule; null, with the reason as `time_unknown`, where it has no closed form there.

    `slot_cycles`: for tables, the slot length that they state and that the time is for; the result then also has
    `least_slot_cycles`, the shortest sufficient one.
    """
    document: dict[str, Any] = {} if slot_cycles is None else {"slot_cycles": slot_cycles, "least_slot_cycles": None}
    try:
        run = timed(schedule, message_bytes, machine)
        cycles, tolerance = run.cycles, _tolerance(run.schedule)
        if slot_cycles is not None and not run.schedule.has_fine_slots:
            document["least_slot_cycles"] = run.slot_cycles
            cycles = run.cycles_in(slot_cycles)
        return document | {"time_cycles": cycles, **_times(schedule, cycles, message_bytes, machine), **tolerance}
    except InputError as error:
        return document | {"time_cycles": None, **_times(schedule, None, message_bytes, machine), "time_unknown": str(error)}


def _times(schedule: AnySchedule, cycles: int | None, message_bytes: int, machine: Machine) -> dict[str, str | None]:
    return run_times(cycles, message_bytes, machine, schedule.collective, schedule.topology)


def _tolerance(schedule: Schedule) -> dict[str, Any]:
    """How far clocks may differ with its fine slots, null where no message leaves its node; nothing without fine slots."""
    if not schedule.has_fine_slots:
        return {}
    drift = drift_tolerance(schedule)
    return {"skew_tolerance_cycles": skew_tolerance(schedule), "drift_tolerance": None if drift is None else str(drift)}


def schedule_report(
    schedule: AnySchedule, verdict: Verdict, message_bytes: int, machine: Machine, slot_cycles: int | None = None
) -> dict[str, Any]:
    """The keys of `--json` of all commands that check a schedule; rationals as strings, null where an invalid one has no value.
    `slot_cycles` as in `closed_form`."""
    effect = agreement_of_schedule(schedule, machine, message_bytes, None, slot_cycles) if verdict.valid else None
    document: dict[str, Any] = {
        "valid": verdict.valid,
        "topology": schedule.topology.name,
        "collective": schedule.collective.name,
        "root": schedule.collective.root,
        **members_of(schedule.collective),
        **rounded_of(schedule.topology),
        "method": _said(schedule, "method"),
        "chunks": schedule.chunks,
        "steps": schedule.steps,
        "total_steps": schedule.total_steps,
        "delay": schedule.delay,
        "period": schedule.period,
        "repeats": schedule.repeats,
        "transfers": schedule.transfers,
        **({"fine_slot_cycles": schedule.slot_cycles} if schedule.has_fine_slots else {}),
        **_stored(schedule, verdict, machine),
        "shares": None if verdict.quality is None else shares_term(Instance.of(schedule)),
        **_quality(verdict.quality),
        **exact_keys(verdict.quality),
        "fewest_steps_said": _said(schedule, "fewest_steps"),
        **_left_out(schedule),
        **(
            closed_form(schedule, message_bytes, machine, slot_cycles)
            if verdict.valid
            else {"time_cycles": None, **_times(schedule, None, message_bytes, machine)}
        ),
        **time_bound(schedule, verdict.quality, message_bytes, machine),
        "router_effect": effect,
        "message_bytes": message_bytes,
        "machine": machine.name,
        **(order_of(schedule, effect) if verdict.valid else {}),
    }
    document |= over_bounds(document["time_cycles"], document)
    if not verdict.valid:
        document["violations"] = [
            {"rule": violation.rule, "message": violation.message, "rows": list(violation.rows)} for violation in verdict.violations
        ]
        document["violation_counts"] = dict(verdict.counts)
        document["serialized_rounds"] = verdict.serialized_rounds
        document["stated_rounds"] = schedule.run_rounds
    return document


def members_of(collective: Collective) -> dict[str, Any]:
    """`members` of a report, without which all endpoints take part; for a demand, the numbers of its `blocks` and `granules`."""
    if collective.demand is not None:
        return {"blocks": len(collective.demand.blocks), "granules": collective.demand.granules}
    return {} if collective.members is None else {"members": list(collective.members)}


def _stored(schedule: AnySchedule, verdict: Verdict, machine: Machine) -> dict[str, int]:
    """`base_transfers` of a symmetric schedule; else `virtual_channels` that are enough for its routes over several links, and
    nothing where there are none, or no routers to pass, or the routes are wrong."""
    if isinstance(schedule, SymmetricSchedule):
        return {"base_transfers": schedule.base.transfers}
    enough = channels_of_schedule(schedule, machine) if schedule.routes and not STRUCTURAL & verdict.counts.keys() else None
    return {} if enough is None else {"virtual_channels": enough}


def _said(schedule: AnySchedule, name: str) -> str | None:
    """A note that the schedule's method left in its provenance; not checked."""
    words = schedule.provenance.get(name)
    return words if isinstance(words, str) else None


def _left_out(schedule: AnySchedule) -> dict[str, dict[str, str]]:
    """`left_out` and `beyond_budget`, where method auto notes candidates that the checker rejected, and those that their price left
    out: the reason for each; not checked."""
    notes = schedule.provenance.get("auto")
    told = {name: notes.get(name) for name in ("left_out", "beyond_budget")} if isinstance(notes, dict) else {}
    return {
        name: {str(label): str(reason) for label, reason in those.items()}
        for name, those in told.items()
        if isinstance(those, dict) and those
    }


def _quality(quality: Quality | None) -> dict[str, Any]:
    """The claims of the certificate, gaps and witnesses. With fine slots steps are times, and only the time bound says how good
    they are: there is no latency in steps, nor a bound on it, nor a gap."""
    if quality is None:
        names = ("bandwidth_time", "bandwidth_bound", "latency_steps", "latency_bound")
        return dict.fromkeys(names) | {
            "optimal_in": [],
            "gap": {"bandwidth": None, "latency": None},
            "fewest_steps": None,
            "witnesses": [],
        }
    claim = claim_document(quality)
    for name in claim:
        if name.startswith("bandwidth"):  # rounds per chunk; M/B is of a full link
            claim[name] = str(Fraction(claim[name]) * quality.scale)
    return {
        **claim,
        "gap": {name: None if gap is None else str(gap) for name, gap in quality.gap.items()},
        "fewest_steps": quality.fewest_steps,
        "witnesses": [dict(witness) for witness in quality.witnesses],
        **({} if quality.any_shares is None else {"witness_any_shares": dict(quality.any_shares)}),
    }


def schedule_words(report: dict[str, Any]) -> str:
    """The report as text, a few lines."""
    made = f", made by {one_line(report['method'])}" if report["method"] else ""
    what = f"{collective_words(report)} on {one_line(report['topology'])}{made}"
    if not report["valid"]:
        counts = ", ".join(f"{count} × {rule}" for rule, count in report["violation_counts"].items())
        listed = [f"  {found['rule']}: {found['message']}" for found in report["violations"]]
        if report["serialized_rounds"] is not None:
            needed, stated = report["serialized_rounds"], report["stated_rounds"]
            listed.append(f"  without contention, the same transfers in the same steps take {needed} rounds, not {stated}")
        return "\n".join([f"invalid: {what}: {counts}", *listed])
    kinds = {witness["quantity"]: kind_words(witness) for witness in report["witnesses"]}
    lines = [f"valid: {what}", f"  {_shape_words(report)}"]
    own, timed = (shares_words(report, name) for name in ("bandwidth_bound", TIME_BOUND))
    for name, value, bound in (
        ("bandwidth", report["bandwidth_time"], decimal_words(report["bandwidth_bound"], kinds.get("bandwidth", "none"), *own)),
        ("latency", report["latency_steps"], _latency_bound_words(report["latency_bound"], report["delay"])),
    ):
        if bound is None:
            continue
        answer = "optimal" if name in report["optimal_in"] else gap_answer(report, name)
        lines.append(f"  {QUANTITIES[name]}: {counted(value, UNITS[name])}, bound {bound}: {answer}")
    if own:
        gap = Fraction(report["bandwidth_time"]) / Fraction(report["bandwidth_bound_any_shares"]) - 1
        bound = counted(report["bandwidth_bound_any_shares"], "M/B")
        lines.append(f"  with any shares: bandwidth time ≥ {bound}: {f'gap {gap_words(str(gap))}' if gap else 'optimal'}")
    if "latency" not in report["optimal_in"] and (report["fewest_steps"] or report["fewest_steps_said"]):
        fewest, whole = report["fewest_steps"], " in whole units" if "rounded" in report else ""
        noted = f"not proved to be the fewest; noted: {one_line(report['fewest_steps_said'] or '')}"
        proved = f"proved to be the fewest{whole} ({fewest})" if fewest else noted
        lines.append(f"  steps: {report['steps']} for {counted(report['chunks'], 'chunks')}, {proved}")
    lines += exact_words(report)
    if report["time_cycles"] is None:
        lines.append(f"  time: unknown: {report['time_unknown']}")
    else:
        size, machine = size_words(report["message_bytes"]), one_line(report["machine"])
        lines.append(f"  time: {report['time_cycles']:,} cycles ({clock_words(report)}) for {size}, machine {machine}")
        if report["router_effect"] is not None:
            lines.append(f"  without what routers may add, which `certree simulate` shows: {report['router_effect']}")
        if report["time_over_bound"] is not None:
            lines.append(f"  time bound: {_time_bound_words(report, '', timed)}")
            lines += [f"  with any shares: {_time_bound_words(report, ANY_SHARES, [])}"] if timed else []
    if report.get("skew_tolerance_cycles") is not None:
        skew, drift = counted(report["skew_tolerance_cycles"], "cycles"), float(Fraction(report["drift_tolerance"]) * 10**6)
        lines.append(f"  clocks may start {skew} apart, or drift by {drift:,.{'4g' if drift < 1000 else '0f'}} ppm")
    lines += order_words(report)
    lines += rounded_words(report)
    left_out, beyond = report.get("left_out", {}), report.get("beyond_budget", {})
    lines += [f"  left out: {one_line(label)}: {one_line(reason)}" for label, reason in left_out.items()]
    if beyond:
        label, reason = next(iter(beyond.items()))
        lines.append(f"  left out by price: {counted(len(beyond), 'candidates')}, such as {one_line(label)}: {one_line(reason)}")
    least = report.get("least_slot_cycles")
    if least is not None and least < report["slot_cycles"]:
        lines.append(f"  slots of {report['slot_cycles']:,} cycles; {least:,} would be enough")
    return "\n".join(lines)


def shares_words(report: Mapping[str, Any], name: str) -> list[str]:
    """The shares that a bound of a report on a schedule assumes (`bandwidth_bound`, `time_bound_cycles`), where the bound for any
    shares is another one."""
    return [] if report.get(name + ANY_SHARES) in (None, report[name]) else [report["shares"]]


def _time_bound_words(report: dict[str, Any], end: str, shares: list[str]) -> str:
    """A time bound, what it assumes, and the time divided by it."""
    cycles, over = report[TIME_BOUND + end], float(Fraction(report["time_over_bound" + end]))
    return f"{cycles:,} cycles{''.join(f' ({one})' for one in shares)}; time / time bound {over:.4g}"


def _shape_words(report: dict[str, Any]) -> str:
    """Chunks, iterations, steps, delay and transfers."""
    chunks, unit = counted(report["chunks"], "chunks"), "step"
    steps = counted(report["steps"], "steps")
    if "fine_slot_cycles" in report:
        unit, steps = "slot", f"{counted(report['steps'], 'slots')} of {counted(report['fine_slot_cycles'], 'cycles')}"
    parts = [chunks, steps]
    if report["period"] and report["repeats"] > 1:
        every = f"every {unit}" if report["period"] == 1 else f"one every {report['period']:,} {unit}s"
        parts = [
            f"{chunks}/iteration",
            f"{report['repeats']:,} iterations, {every}",
            f"{steps} per iteration ({report['total_steps']:,} total)",
        ]
    if report["delay"] > 1:
        parts.append(f"results usable {report['delay']} steps after send")
    if report.get("virtual_channels", 1) > 1:
        parts.append(f"routes need {report['virtual_channels']} virtual channels")
    stored = f" (stored as {report['base_transfers']:,} and their images)" if "base_transfers" in report else ""
    return " · ".join([*parts, counted(report["transfers"], "transfers") + stored])


def _latency_bound_words(bound: int | None, delay: int) -> str | None:
    """The bound on the steps, if there is one. It is that of a path of h hops, (h - 1) · delay + 1, so it also gives the bound at
    delay 1."""
    if bound is None:
        return None
    return f"{bound} (distance)" if delay == 1 else f"{bound} at delay {delay} ({(bound - 1) // delay + 1} at delay 1)"
