"""Evidence for every schedule: a search for bounds, a certificate, and verification of both."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from itertools import chain
from typing import Any

import numpy as np

from certree.api.api_errors import DisagreementError
from certree.models.fine.slots import fine_times
from certree.models.machine.machine import Machine
from certree.models.machine.speeds import contradiction
from certree.models.network.topology import Topology
from certree.models.schedule.collective import Collective
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule, SymmetricSchedule
from certree.verify.bounds.classes import OF_SUMS, is_general
from certree.verify.bounds.instance import Instance
from certree.verify.bounds.timed import TimeInstance, best_time, make_time_bound
from certree.verify.bounds.witness import Bound, WitnessError, check_bound, make_bound
from certree.verify.certificates.certificate import check_certificate, make_certificate, proved_claims, proved_of_sums
from certree.verify.certificates.quality import quality_of
from certree.verify.checker import verify_schedule
from certree.verify.verdict import Findings, Verdict

FAR = Fraction(5, 4)  # times the best of a few quick bounds: only for longer runs better ones are searched for


def add_certificate(schedule: AnySchedule, *, search: bool = True, enough: Fraction | None = None) -> tuple[AnySchedule, Verdict]:
    """The schedule with its certificate, and the verdict on both; an invalid schedule comes back as it was.

    The certificate has the cheap bounds of the verifier, and with `search` those of `certree.synth.bounds.find`. A symmetric
    schedule that is not an all-to-all needs no others: where all nodes look the same, bounds at one node and the count of all
    messages are as strong. Proofs of the fewest steps and of an optimum that came with the schedule are kept if they are valid. A
    schedule that records what it was made for gets a bound on the time of a run, too. `enough`: for a schedule for a demand, only a
    few quick bounds are tried, until one proves that it takes at most that many times the least time, unless all of them are far
    from it.
    """
    bare = schedule.with_certificate(None)
    verdict = verify_schedule(bare)
    if not verdict.valid:
        return schedule, verdict
    proved, ordered = proved_claims(schedule), proved_of_sums(schedule)
    quick = _quick_bounds(bare, verdict, enough) if search and enough is not None and isinstance(bare, Schedule) else None
    is_simple = isinstance(bare, SymmetricSchedule) and not bare.collective.has_targets
    bounds = [*ordered, *(found_bounds(bare) if search and quick is None and not is_simple else [])]
    instance = Instance.of(bare)
    time_bounds: list[Bound] = []
    if quick is not None:
        bounds, time_bounds = quick
    elif bare.made_for is not None and verdict.quality is not None:
        known = [dict(bound) for bound in (*bounds, *verdict.quality.bandwidth_witnesses) if _is_of_every_order(bound)]
        best = best_of_each_class(instance, sorted(known, key=lambda bound: -Fraction(bound["value"])))
        found = found_time_bounds(instance, best, bare.made_for.message_bytes, bare.made_for.machine)
        time_bounds = best_of_each_class(instance, found)
    certified = bare.with_certificate(make_certificate(bare, bounds, time_bounds=time_bounds, **proved))
    findings = Findings()
    quality = check_certificate(certified, findings)
    return certified, findings.verdict(quality)


def _quick_bounds(schedule: Schedule, verdict: Verdict, enough: Fraction) -> tuple[list[Bound], list[Bound]] | None:
    """(bounds, time bounds) from the loads of a schedule for a demand, the first that prove that it takes at most `enough` times
    the least time, or else the best of a few; None for other schedules, and where it takes more than FAR times what these prove."""
    from certree.synth.bounds.by_loads import bounds_by_loads

    if not (schedule.has_fine_slots and schedule.has_sizes) or verdict.quality is None:
        return None
    assert schedule.made_for is not None  # of all schedules with fine slots
    times, instance = fine_times(schedule), Instance.of(schedule)
    load, uses = np.zeros(len(schedule.topology.pair_src), np.int64), times.reservations
    np.add.at(load, uses.pair, times.length[uses.row])
    of = TimeInstance(instance, schedule.made_for.message_bytes, schedule.made_for.machine)
    cheap = [dict(bound) for bound in verdict.quality.bandwidth_witnesses]
    best: tuple[int, list[Bound], list[Bound]] = (0, [], [])
    for bound in chain(cheap, bounds_by_loads(of.exact, load)):
        timed = make_time_bound(of, "load", {"bound": bound})
        best = max(best, (int(timed["value"]), [] if bound in cheap else [bound], [timed]), key=lambda one: one[0])
        if times.cycles <= enough * best[0]:
            break
    return best[1:] if times.cycles <= FAR * best[0] else None


def found_bounds(schedule: AnySchedule) -> list[Bound]:
    """Bounds found for the schedule's instance, each re-checked, with its class. For unequal shares the witnesses are those of
    equal shares, each with what it proves for these shares and routes; those that prove nothing are left out, and those for any
    shares come first."""
    instance = Instance.of(schedule)
    is_equal = instance.shares == Instance(instance.topology, schedule.collective).shares and not instance.passing
    bounds = []
    for bound in _bounds(instance.topology, schedule.collective, schedule.delay):
        try:
            if is_equal:
                check_bound(instance, bound)
                bounds.append(bound)
            else:
                bounds.append(make_bound(instance, bound["kind"], bound["witness"]))
        except WitnessError as error:
            if is_equal:
                raise DisagreementError(f"the {bound['kind']} bound that was found is not proved: {error}") from None
    return bounds if is_equal else sorted(bounds, key=lambda bound: not is_general(instance, bound))


def with_found_bounds(schedule: AnySchedule, verdict: Verdict) -> Verdict:
    """The verdict on a schedule without a certificate, such as that of tables, with the bounds that its certificate would have."""
    return verdict if verdict.quality is None else replace(verdict, quality=quality_of(schedule, found_bounds(schedule)))


def best_of_each_class(instance: Instance, bounds: Sequence[Bound]) -> list[Bound]:
    """The first of bounds on one quantity, largest first, and, if it is another one, the first that holds for every schedule."""
    general = next((bound for bound in bounds if is_general(instance, bound)), None)
    return [*bounds[:1], *([general] if general is not None and general is not bounds[0] else [])]


def found_time_bounds(instance: Instance, bounds: Sequence[Mapping[str, Any]], message_bytes: int, machine: Machine) -> list[Bound]:
    """Bounds on the time of a run, largest first, each re-checked: by latency and capacity, by all additions, and by the load of
    each of the given bandwidth bounds. Empty where the network contradicts the machine."""
    if contradiction(instance.topology, machine) is not None:
        return []
    of = TimeInstance(instance, message_bytes, machine)
    found = list(_time_bounds(instance.topology, instance.collective, instance.shares, message_bytes, machine))
    found += [make_time_bound(of, "load", {"bound": dict(bound)}) for bound in bounds if _is_of_every_order(bound)]
    best_time(of, found)
    return sorted(found, key=lambda bound: -int(bound["value"]))


def _is_of_every_order(bound: Mapping[str, Any]) -> bool:
    """Whether a bound is one on bandwidth that needs no order of additions, so that the time of every run follows from it."""
    return bool(bound["quantity"] == "bandwidth" and bound["kind"] not in OF_SUMS)


@lru_cache(maxsize=32)
def _time_bounds(
    topology: Topology, collective: Collective, shares: tuple[Fraction, ...], message_bytes: int, machine: Machine
) -> list[Bound]:
    """The search for time bounds, once for all schedules that are compared."""
    from certree.synth.bounds.quickest import time_bounds

    return time_bounds(TimeInstance(Instance(topology, collective, shares), message_bytes, machine))


@lru_cache(maxsize=8)
def _bounds(topology: Topology, collective: Collective, delay: int) -> list[Bound]:
    """The search for bounds, once for all schedules that are compared on one network."""
    from certree.synth.bounds.find import find_bounds

    return find_bounds(topology, collective, delay)


def certified_or_fail(schedule: AnySchedule, *, search: bool = True, enough: Fraction | None = None) -> tuple[AnySchedule, Verdict]:
    """The result of `add_certificate` for a schedule that certree itself made; DisagreementError when it is invalid.

    A schedule made exactly as published, with the rounds or formulas of its source, may be invalid: it is then returned with that
    verdict.
    """
    certified, verdict = add_certificate(schedule, search=search, enough=enough)
    if not verdict.valid and not schedule.provenance.get("published"):
        first = verdict.violations[0]
        raise DisagreementError(f"the schedule that was made is invalid: {first.rule}: {first.message}")
    return certified, verdict
