"""Certificates: the bounds proved for one schedule, and the claims that follow from them.

The part `time` bounds the time of a run, for one message size and one machine:

    {"message_bytes", "machine": {...}, "bound_cycles", "bounds": [...]}

Its `bounds` are time bounds (`bounds.timed`) for the instance that the schedule solves; `bound_cycles` is the largest of their
values. In an all-gather or reduce-scatter `bound_cycles_any_shares` is the largest of those that hold for any shares; it may be
missing.

The part `order` states the order of additions, as the key of reports does (`verify.order.additions`), where a bound is for
schedules of this order only.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from certree.models.common.errors import InputError, MachineError, ScheduleFormatError, short
from certree.models.common.fields import Fields
from certree.models.schedule.made_for import MadeFor, read_made_for
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule
from certree.verify.bounds.classes import OF_SUMS
from certree.verify.bounds.instance import Instance
from certree.verify.bounds.timed import TimeInstance, best_general_time, best_time
from certree.verify.bounds.witness import Bound, WitnessError, check_bound, malformed, with_class
from certree.verify.certificates.fewest_cycles import check_cycles
from certree.verify.certificates.fewest_steps import check_fewest
from certree.verify.certificates.optimum import check_optimum
from certree.verify.certificates.quality import quality_of
from certree.verify.exact.rup import ProofError
from certree.verify.order.additions import additions_of
from certree.verify.rule import Subject, rule
from certree.verify.verdict import Findings, ProvedTime, Quality

FORMAT, VERSION = "certree-certificate", 1
_KEYS = ["topology", "schedule", "bounds", "claim"]
#: keys that may be present, too
_FEWEST, _OPTIMUM, _CYCLES, TIME, _ORDER = "fewest_steps", "optimum", "fewest_cycles", "time", "order"
_ANY_SHARES = "bandwidth_bound_any_shares"  # of a claim; earlier versions make none
#: claims with proofs of infeasibility: the field of Quality that takes the result of the check
_PROOFS: dict[str, tuple[str, Callable[[AnySchedule, Any], Any]]] = {
    _FEWEST: ("fewest_steps", check_fewest),
    _OPTIMUM: ("optimum", check_optimum),
    _CYCLES: ("fewest_cycles", check_cycles),
}
_TIME_KEYS, TIME_ANY_SHARES = ("message_bytes", "machine", "bound_cycles", "bounds"), "bound_cycles_any_shares"


def make_certificate(
    schedule: AnySchedule,
    bounds: Sequence[Bound],
    fewest: Mapping[str, Any] | None = None,
    time_bounds: Sequence[Bound] = (),
    optimum: Mapping[str, Any] | None = None,
    cycles: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The certificate of a schedule: the given bounds, the cheap ones where they are better, and the claim that follows. `fewest`:
    the claim, with its proof, that no schedule with as many chunks has fewer steps (`fewest_steps`); `time_bounds`: bounds on the
    time of a run, for the message size and the machine that the schedule was made for (`time`); `optimum`: the claim, with its
    proofs, that no schedule with at most as many chunks, steps and rounds per chunk has fewer of any (`optimum`); `cycles`: that no
    schedule with fine slots ends in fewer cycles (`fewest_cycles`).

    A certificate adds to a schedule; it does not replace verifying it. Raises WitnessError for a bound that its witness does not
    prove.
    """
    instance, quality = Instance.of(schedule), quality_of(schedule, bounds)
    used = [with_class(instance, bound) for bound in bounds if quality.latency_bound is not None or bound["quantity"] != "latency"]
    for bound in (*quality.witnesses, *quality.bandwidth_witnesses):
        used += [dict(bound)] if bound not in used else []
    return {
        "format": FORMAT,
        "version": VERSION,
        "topology": schedule.topology.digest,
        "schedule": schedule.digest,
        "bounds": used,
        "claim": claim_document(quality),
        **({_ORDER: _order_document(schedule)} if any(bound["kind"] == _ORDER for bound in used) else {}),
        **({} if fewest is None else {_FEWEST: dict(fewest)}),
        **({} if optimum is None else {_OPTIMUM: dict(optimum)}),
        **({} if cycles is None else {_CYCLES: dict(cycles)}),
        **(
            {TIME: time_document(instance, schedule.made_for, time_bounds)} if time_bounds and schedule.made_for is not None else {}
        ),
    }


def _order_document(schedule: AnySchedule) -> dict[str, object] | None:
    found = additions_of(schedule)
    return None if found is None else found.document()


def claim_document(quality: Quality) -> dict[str, Any]:
    """The claim that states a quality."""
    any_shares = {} if quality.any_shares is None else {_ANY_SHARES: quality.any_shares["value"]}
    return {
        "bandwidth_time": str(quality.bandwidth_time),
        "bandwidth_bound": str(quality.bandwidth_bound),
        **any_shares,
        "latency_steps": quality.latency_steps,
        "latency_bound": quality.latency_bound,
        "optimal_in": list(quality.optimal_in),
    }


@rule("certificate", "the document is not a certificate of this version", "certificate.version = 2", Subject.CERTIFICATES)
@rule("certificate-topology", "the certificate is for another topology", 'certificate.topology = "0000"', Subject.CERTIFICATES)
@rule("certificate-schedule", "the certificate is for other transfers", 'certificate.schedule = "0000"', Subject.CERTIFICATES)
@rule(
    "certificate-claim",
    "a claim differs from the value that follows, in either direction",
    'certificate.claim.bandwidth_bound = "1/100"',
    Subject.CERTIFICATES,
)
def check_certificate(schedule: AnySchedule, findings: Findings) -> Quality:
    """Re-check the certificate, if there is one; returns the quality by its proved bounds and the cheap ones.

    Rules: `certificate` (not a certificate), `certificate-topology`, `certificate-schedule` (for another topology or schedule),
    `witness-...` (a bound is not proved), `proof-...`, `optimum-open` and `cycles-open` (its steps or cycles are not proved to be
    the fewest, or it is not proved to be optimal), `certificate-claim` (a claim overstates or understates what follows).
    """
    document = schedule.certificate
    if document is None:
        return quality_of(schedule)
    end = schedule.steps + 1
    try:
        _check_form(document)
    except InputError as error:
        findings.add("certificate", end, (), str(error))
        return quality_of(schedule)
    for key, digest in (("topology", schedule.topology.digest), ("schedule", schedule.digest)):
        if document[key] != digest:
            message = f"certificate: it is for the {key} {short(document[key])}, not for this one, {short(digest)}"
            findings.add(f"certificate-{key}", end, (), message)
    instance, proved = Instance.of(schedule), []
    for number, bound in enumerate(document["bounds"]):
        try:
            check_bound(instance, bound)
            proved.append(bound)
        except WitnessError as error:
            findings.add(error.rule, end, (), f"certificate: bound {number}: {error.message}")
    quality = quality_of(schedule, proved)
    true = claim_document(quality)
    if schedule.has_fine_slots and document["claim"].get("latency_bound") is not None:
        true = claim_document(quality_of(schedule, proved, counts_steps=True))  # earlier versions counted fine slots as steps
    _check_claim(document["claim"], true, end, findings)
    for name, (field, check) in _PROOFS.items():
        if name in document:
            try:
                quality = replace(quality, **{field: check(schedule, document[name])})
            except (ProofError, WitnessError) as error:
                findings.add(error.rule, end, (), f"certificate: {name}: {error.message}")
    if _ORDER in document and document[_ORDER] != _order_document(schedule):
        findings.add("certificate-claim", end, (), f"certificate: the schedule does not add in the order {short(document[_ORDER])}")
    if TIME in document:
        try:
            quality = replace(quality, time=check_time(instance, document[TIME]))
        except WitnessError as error:
            findings.add(error.rule, end, (), f"certificate: {TIME}: {error.message}")
    return quality


def proved_claims(schedule: AnySchedule) -> dict[str, Mapping[str, Any]]:
    """The claims of `fewest` steps, of an `optimum` and of fewest `cycles` in a schedule's certificate that are proved, as
    `make_certificate` takes them."""
    found = {}
    for argument, name in (("fewest", _FEWEST), ("optimum", _OPTIMUM), ("cycles", _CYCLES)):
        with suppress(ProofError, WitnessError):
            if (claim := (schedule.certificate or {}).get(name)) is not None:
                _PROOFS[name][1](schedule, claim)
                found[argument] = claim
    return found


def proved_of_sums(schedule: AnySchedule) -> list[Bound]:
    """The bounds in a schedule's certificate on schedules that add as it does; each is proved for this schedule."""
    instance, found = Instance.of(schedule), []
    for bound in (schedule.certificate or {}).get("bounds", []):
        with suppress(WitnessError):
            if isinstance(bound, Mapping) and bound.get("kind") in OF_SUMS:
                check_bound(instance, bound)
                found.append(dict(bound))
    return found


def _check_form(document: Any) -> None:
    """Raise InputError unless the document has all fields of a certificate, with the right types."""
    fields = Fields.of_format(document, FORMAT, VERSION, "certificate").only(*_KEYS, optional=[*_PROOFS, TIME, _ORDER])
    for name in ("topology", "schedule"):
        fields.text(name)
    fields.entries("bounds", empty=True)
    fields.table_of("claim")


def _check_claim(claim: Mapping[str, Any], true: Mapping[str, Any], end: int, findings: Findings) -> None:
    try:
        Fields(claim, "certificate: claim").only(*(key for key in true if key != _ANY_SHARES), optional={*true} & {_ANY_SHARES})
    except InputError as error:
        findings.add("certificate", end, (), str(error))
        return
    for key, value in ((key, value) for key, value in true.items() if key in claim):
        if type(claim[key]) is not type(value) or claim[key] != value:
            message = f"certificate: claims {key} = {short(claim[key])}; what follows from schedule and bounds is {value!r}"
            findings.add("certificate-claim", end, (), message)


def time_document(instance: Instance, made_for: MadeFor, bounds: Sequence[Bound]) -> dict[str, Any]:
    """The part `time` of a certificate, with these time bounds; WitnessError for one that is not proved."""
    of = TimeInstance(instance, made_for.message_bytes, made_for.machine)
    proved = best_time(of, bounds)
    general = {TIME_ANY_SHARES: any_shares} if (any_shares := best_general_time(instance, bounds)) is not None else {}
    return {**made_for.document(), "bound_cycles": proved, **general, "bounds": [with_class(instance, bound) for bound in bounds]}


def check_time(instance: Instance, document: Any) -> ProvedTime:
    """The message size and the machine, and the cycles that the bounds prove.

    Raises WitnessError as `check_time_bound` does, and with rule `certificate-claim` where `bound_cycles` or
    `bound_cycles_any_shares` is another number.
    """
    fields = Fields(document, "time", malformed).only(*_TIME_KEYS, optional=[TIME_ANY_SHARES])
    try:
        made_for = read_made_for(Fields({key: document[key] for key in _TIME_KEYS[:2]}, "time", malformed))
        of = TimeInstance(instance, made_for.message_bytes, made_for.machine)
    except (MachineError, ScheduleFormatError, InputError) as error:
        raise malformed(str(error)) from None
    proved = best_time(of, fields.entries("bounds"))
    general = best_general_time(instance, document["bounds"])
    for name, true in (("bound_cycles", proved), (TIME_ANY_SHARES, general)):
        said = document.get(name, true)
        if type(said) is not type(true) or said != true:
            raise WitnessError("certificate-claim", f"claims {name} = {short(said)}; what follows from the bounds is {true}")
    return ProvedTime(made_for, proved, general)
