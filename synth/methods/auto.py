"""Automatic choice: the schedule with the fewest cycles of all methods that are tried, in slots by closed form or as requested."""

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from fractions import Fraction
from typing import Any

from certree.models.common.errors import RejectedError, UndecidedError, UnsupportedError
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule
from certree.synth.bounds.quick import quick_time_bound
from certree.synth.candidate_prices import BOOKED, BUDGET, LEAST_PART, LEFT_OUT, NOT_TIMED, Ledger, price_of
from certree.synth.fine.paced import best_paced, may_be_paced
from certree.synth.method import FINE_BYTES, MANY, METHODS, Form, Method, Options, Request, Tier, method, takes_fine_slots
from certree.synth.price import Price
from certree.synth.ranks.embedding import channels_that_fill
from certree.verify.checker import verify_schedule
from certree.verify.order.agreement import waits_for_credits

#: beyond this many endpoints, where all must get data from all others, only methods are tried that do not write a transfer for each
#: pair: a row for each pair would not fit in memory
PAIRWISE_ENDPOINTS = 4096
#: an all-reduce of more bytes an endpoint on a direct network is left to the searches
SEARCHED_BYTES = 4096
#: the label of schedules with slots of one length in fine slots, which come last
PACED = "retime:from=paced"
#: a schedule that takes at most this many times the time bound ends the search
ENOUGH = Fraction(1002, 1000)
#: levels of lower bounds for each time bound: those on one level count as equal
LEVELS = 20
#: the beginning of the reason for leaving out a schedule that the checker rejects
INVALID = "invalid: "
#: whether it waits for credits, its cycles, and `Method.order`; its label; the candidate
_Ranked = tuple[tuple[bool, int, int], str, AnySchedule]


@method("auto", tuple(CollectiveKind), published=False, tier=Tier.NAMED, takes_members=True, takes_demand=True)
def auto(request: Request, _options: Options) -> AnySchedule:
    """The best of all methods at the given size and machine, by the closed form of slotted runs or by `Request.form`.

    The provenance lists the candidates and their times. A candidate that the checker rejects is left out, which the output says;
    the next best is picked. No options. In slots, all-reduces of more than SEARCHED_BYTES per endpoint on direct networks are left
    to the methods of Tier.ALWAYS, which were faster than published algorithms in all measurements. Elsewhere those are tried too,
    with the variants that they are registered with, and side by side. Tier.FINE makes fine slots; Tier.SMALL the same, on direct
    networks for messages up to FINE_BYTES only, Tier.MANY likewise, and Tier.SOME where only some endpoints take part. Where it is
    tried, the candidates with slots of one length are tried once more at the end, in fine slots: each transfer as early as in a
    paced run. Beyond PAIRWISE_ENDPOINTS only sparse methods are tried. A candidate is not built if its price
    (`synth.candidate_prices`) exceeds the rest of the work budget, or if its lower bound is too high; the output names these. The
    search stops after a schedule within ENOUGH of the time bound (`quick_time_bound`), so methods that repeat a part
    (`Method.is_repeated`) go first, and after the method that reached a time limit. Methods that take a demand are tried for one.
    """
    form = request.form or Form("in slots", request.cycles)
    inner = (
        request if request.form is None else replace(request, monitor=request.monitor.watching())
    )  # it compares times of another form
    considered: dict[str, str] = {}
    times: dict[str, int] = {}
    best: _Ranked | None = None
    ledger = Ledger(request.effort, quick_time_bound(request), len(request.members))
    equal: list[tuple[str, AnySchedule]] = []
    bound, admit = ledger.bound, None if request.form else ledger.admit
    for label, name, options, price in priced_candidates(request, bound):
        enough = best is not None and is_enough(*best[0][:2], bound)
        if times and request.monitor.expired:
            refused: str | None = "not tried: time limit"
        else:
            refused = enough_words(best[1], bound) if best and enough else ledger.refusal(price, in_slots=request.form is None)
        if refused is not None:
            considered[label] = refused
            continue
        before = copy(inner.monitor)
        try:
            schedule = METHODS[name](replace(inner, options=options, admit=None if METHODS[name].own_units else admit))
            require_valid(schedule)
            request.require_runnable(schedule)
            cycles = form.cycles(schedule)
        except (UnsupportedError, UndecidedError, RejectedError) as error:
            considered[label] = str(error)
            if isinstance(error, RejectedError):
                inner.monitor.withdraw(before)
                request.monitor.report(f"{label} is left out: {error}")
            continue
        waits = request.form is None and waits_for_credits(schedule, request.machine, request.message_bytes)
        request.monitor.offer(schedule, cycles, waits=waits)
        considered[label] = outcome_words(cycles, waits=waits)
        request.monitor.report(f"{label}: {considered[label]}")
        ledger.note(price.of(schedule.transfers), label, None if waits else cycles, schedule.transfers)
        times |= {} if waits else {label: cycles}
        rank = waits, cycles, METHODS[name].order
        if best is None or rank < best[0]:
            best = rank, label, schedule
        if may_be_paced(request, schedule):
            equal.append((label, schedule))
    if best is None:
        raise none_applies(considered)
    if not is_enough(*best[0][:2], bound):
        best = ended(request, considered, times, best, equal, ledger)
    _, label, schedule = best
    return picked(request, form, considered, times, label, schedule)


def is_enough(waits: bool, cycles: int, bound: int) -> bool:
    """Whether a candidate, which must not wait for credits, is within ENOUGH of a time bound."""
    return not waits and cycles <= bound * ENOUGH


def enough_words(label: str, bound: int) -> str:
    """The reason why nothing was tried after that candidate."""
    return f"not tried: {label} is within 0.2 % of the time bound ({bound} cycles)"


def require_valid(schedule: AnySchedule) -> None:
    """Raise RejectedError, with the first violation, for a schedule that the checker rejects."""
    verdict = verify_schedule(schedule)
    if not verdict.valid:
        raise RejectedError(f"{INVALID}{verdict.violations[0].rule}: {verdict.violations[0].message}")


def none_applies(considered: Mapping[str, str]) -> UnsupportedError | RejectedError:
    """The error where no candidate is left: the fault of a method, if there is one."""
    wrong = _left_out(considered)
    if wrong:
        return RejectedError("no valid schedule: " + "; ".join(f"{label}: {reason}" for label, reason in wrong.items()))
    return UnsupportedError("no method applies: " + "; ".join(f"{label}: {reason}" for label, reason in considered.items()))


def _left_out(considered: Mapping[str, str], starts: tuple[str, ...] = (INVALID,)) -> dict[str, str]:
    return {label: reason for label, reason in considered.items() if reason.startswith(starts)}


def outcome_words(cycles: int, *, waits: bool) -> str:
    """The cycles of a candidate, in words. Those that wait for credits (`waits_for_credits`) come last, since they take longer."""
    return f"{cycles} cycles" + ", and waiting for credits" * waits


def ended(
    request: Request,
    considered: dict[str, str],
    times: dict[str, int],
    best: _Ranked,
    equal: Sequence[tuple[str, AnySchedule]],
    ledger: Ledger,
) -> _Ranked:
    """The best (rank, label, schedule) after candidates with equal slots have got fine slots, noted in `considered` and `times`.

    `equal`: candidates that `may_be_paced`, in their order. They have to beat the best so far, unless it waits for credits.
    """
    (waits, cycles, order), label, _ = best
    if waits:
        times[label] = cycles
    if not equal or request.monitor.expired:
        return best
    refused = ledger.refusal(Price(min(one.transfers * one.repeats for _, one in equal), BOOKED), in_slots=False)
    if refused is not None:
        considered[PACED] = refused
        return best
    made = best_paced(request, equal, None if waits else cycles)
    if made is None:
        considered[PACED] = f"none of {len(equal)} schedules takes fewer than {cycles} cycles in fine slots"
        return best
    label, cycles = f"{PACED}:of={made.provenance['options']['of']}", request.cycles(made)
    try:
        require_valid(made)
    except RejectedError as error:
        considered[label] = str(error)
        return best
    considered[label], times[label] = outcome_words(cycles, waits=False), cycles
    request.monitor.offer(made, cycles)
    request.monitor.report(f"{label}: {considered[label]}")
    return (False, cycles, order), label, made


def picked(
    request: Request, form: Form, considered: Mapping[str, str], times: dict[str, int], label: str, schedule: AnySchedule
) -> AnySchedule:
    """The best schedule. Its provenance has the reason for the choice, the result of each candidate, and any left out."""
    why = _reason(request, form, label, times)
    request.monitor.report(f"picked {why}")
    told: dict[str, Any] = {"why": why, "considered": dict(considered)}
    for name, starts in (("left_out", (INVALID,)), ("beyond_budget", (LEFT_OUT, NOT_TIMED))):
        those = _left_out(considered, starts)
        if those:
            told[name] = those
    return replace(schedule, provenance={**schedule.provenance, "auto": told})


def _reason(request: Request, form: Form, picked: str, times: dict[str, int]) -> str:
    """The reason for the choice: its cycles, the number of candidates, and the second best."""
    why = f"{picked}: fewest cycles {form.name} ({times[picked]}) of {len(times)} schedules"
    why += f" at {request.message_bytes} bytes on machine {request.machine.name}"
    others = sorted((cycles, label) for label, cycles in times.items() if label != picked)
    return why + "".join(f"; next {label}, {cycles / times[picked]:.3f} times as long" for cycles, label in others[:1])


def priced_candidates(request: Request, bound: int) -> list[tuple[str, str, dict[str, str], Price]]:
    """The `candidates` with their prices. Where all together exceed the budget, those of little work go first (LEAST_PART), and
    those that alone exceed it go last. Of the others the lowest lower bound goes first, and on one level (LEVELS) the least work.
    An unknown bound counts as twice the time bound: candidates known to be closer go before, all others after."""
    found = [(*one, price_of(one[1], replace(request, options=one[2]))) for one in candidates(request)]
    budget = BUDGET * request.effort
    if sum(price.total for *_, price in found) <= budget:
        return found

    def place(one: tuple[str, str, dict[str, str], Price]) -> tuple[bool, int, bool, int, int]:
        price, least = one[3], max(1, bound)
        level = (one[3].cycles or 2 * least) * LEVELS // least
        exceeds, is_large = max(0, price.total - budget), price.total > budget * LEAST_PART
        return not METHODS[one[1]].is_repeated, exceeds, is_large, level, price.total

    return sorted(found, key=place)


def candidates(request: Request) -> Iterator[tuple[str, str, dict[str, str]]]:
    """(label, method, options) of all that `auto` compares for this request; where only some endpoints take part, of the methods
    that make such schedules."""
    topology, endpoints = request.topology, len(request.members)
    is_huge = endpoints > PAIRWISE_ENDPOINTS and not request.collective.has_one_root
    is_large = request.collective.kind is CollectiveKind.ALL_REDUCE and request.message_bytes > SEARCHED_BYTES * endpoints
    everyone = request.collective.members is None
    is_searched = request.form is None and topology.is_direct and is_large and everyone
    for entry in sorted(map(METHODS.__getitem__, METHODS), key=lambda entry: (not entry.is_repeated, entry.order, entry.name)):
        if request.collective.demand is not None and not entry.takes_demand:
            continue
        if not (everyone or entry.takes_members) or not (entry.is_sparse if is_huge else _is_tried(entry, request, is_searched)):
            continue
        has_variants = not is_huge and not (is_searched and entry.published and entry.tier is not Tier.SMALL)
        variants = [*_variants(entry, request)] if has_variants else []
        yield from (_labelled(entry, options) for options, is_first in variants if is_first)
        yield entry.name, entry.name, dict(entry.auto_options)
        yield from (_labelled(entry, options) for options, is_first in variants if not is_first)


def _labelled(entry: Method, options: dict[str, str]) -> tuple[str, str, dict[str, str]]:
    return ":".join([entry.name, *[f"{key}={value}" for key, value in options.items()]]), entry.name, options


def _is_tried(entry: Method, request: Request, is_searched: bool) -> bool:
    is_fine, are_some, is_ordered = takes_fine_slots(request), request.collective.members is not None, request.order is not None
    is_short = request.message_bytes <= FINE_BYTES
    return {
        Tier.ALWAYS: True,
        Tier.FINE: True,
        Tier.PUBLISHED: not is_searched,
        Tier.SMALL: is_fine,
        Tier.MANY: is_fine and (len(request.members) > MANY or (not request.topology.is_direct and is_short)),
        Tier.ORDERS: is_ordered,
        Tier.SOME: is_ordered or (are_some and is_fine),
        Tier.GROUPS: are_some,
        Tier.DEMANDS: request.collective.demand is not None,
        Tier.NAMED: False,
    }[entry.tier]


def _variants(entry: Method, request: Request) -> Iterator[tuple[dict[str, str], bool]]:
    """Yield options with which a method is tried in addition to its defaults, and whether before these. They are its registered
    variants, and, side by side, options that use links that a single message leaves idle: wide links, several links into switches,
    and links on routes of blocks through other endpoints."""
    for variant in entry.variants:
        if variant.in_auto(request) if callable(variant.in_auto) else variant.in_auto:
            yield dict(variant.options), variant.is_first
    channels = channels_that_fill(request.topology, also_narrow=request.collective.has_targets)
    if entry.side_by_side and channels > 1 and request.collective.demand is None:
        yield {"channels": str(channels)}, False
