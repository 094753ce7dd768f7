"""Classes of bounds: for which schedules a bound holds, as the list of the assumptions that its proof makes.

`TERMS` defines each assumption once; docs/reference/bound-classes.md is written from it. Each kind of witness names its assumptions
next to its proof with `assumes`, and `class_of` derives the class of a bound from its kind, its witness and its instance. The
class that a document states has to be exactly that one; documents of earlier versions state none.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from certree.models.network.topology import NodeKind
from certree.models.schedule.collective import CollectiveKind

if TYPE_CHECKING:
    from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule
    from certree.verify.bounds.instance import Instance

#: (instance, witness document) -> the term or terms that the proof assumes, or None where it assumes nothing there
Assumption = Callable[["Instance", Mapping[str, Any]], str | Iterable[str] | None]
_Function = TypeVar("_Function", bound=Callable[..., Any])

ANY_SHARES, EQUAL_SHARES, STATED_SHARES = "any shares", "equal shares", "stated shares"
_SHARED = (CollectiveKind.ALL_GATHER, CollectiveKind.REDUCE_SCATTER)


@dataclass(frozen=True)
class Term:
    """An assumption of a class. `is_general`: every schedule that certree can state meets it on the network and machine that the
    bound is for, so that it does not restrict the class."""

    definition: str
    is_general: bool = False


#: every term of a class, in the order in which classes list them; D is a whole number
TERMS: dict[str, Term] = {
    ANY_SHARES: Term("The bound holds whatever parts of the message the endpoints root.", is_general=True),
    EQUAL_SHARES: Term("Every endpoint that takes part roots the same part of the message (all-gather, reduce-scatter)."),
    STATED_SHARES: Term(
        "The endpoints root the same parts of the message as in the schedule that the certificate or report is about, which are not"
        " all equal (all-gather, reduce-scatter)."
    ),
    "delay D": Term("What is sent in a step is used D steps later at the earliest. A schedule with a longer delay meets it, too."),
    "no routes through endpoints": Term(
        "No transfer passes an endpoint on its route; on networks whose endpoints can forward within a step."
    ),
    "whole steps": Term("A step lasts as long as the messages that are sent in it. Steps of schedules with fine slots do not."),
    "no coding": Term(
        "A message carries a part of the message or a sum of contributions to a part, no other function of several parts.",
        is_general=True,
    ),
    "switches only forward": Term(
        "Switches that the network does not mark as reducing neither add nor send copies over several links.", is_general=True
    ),
    "one order": Term("Every chunk is added in the order of additions that the witness states, at every rank."),
    "sums made once": Term("Each sum of contributions to a chunk is made at one node, by one addition."),
    "machine": Term(
        "The run is one of network interfaces as docs/reference/tables.md describes them, slotted or paced, with the parameters of"
        " the stated machine: a message is used when it is complete, and additions take their time.",
        is_general=True,
    ),
}

#: kinds of bounds on schedules that add in some way; nothing follows from them about the time of every run
OF_SUMS = ("order", "steiner")

#: kind of witness -> what its proof assumes
_ASSUMED: dict[str, tuple[Assumption, ...]] = {}


def assumes(kind: str, *assumptions: Assumption) -> Callable[[_Function], _Function]:
    """Register what the proof of a kind of witness assumes; a decorator that stands next to the one that registers the kind."""

    def register(function: _Function) -> _Function:
        if kind in _ASSUMED:
            raise ValueError(f"the assumptions of {kind!r} are stated twice")
        _ASSUMED[kind] = assumptions
        return function

    return register


def is_shared(of: "Instance | AnySchedule") -> bool:
    """Whether the endpoints of an instance or schedule share out the message: whether it is an all-gather or reduce-scatter."""
    return of.collective.kind in _SHARED


def shares_term(instance: "Instance") -> str:
    """The term for the shares of the endpoints of an instance: equal or stated ones, or any where it has no choice."""
    if not is_shared(instance):
        return ANY_SHARES
    return EQUAL_SHARES if instance.shares_are_equal else STATED_SHARES


def shares(instance: "Instance", _: Mapping[str, Any]) -> str:
    """The term for shares, since the proof counts what some endpoints root, or what is rooted elsewhere."""
    return shares_term(instance)


def no_coding(_: "Instance", __: Mapping[str, Any]) -> str:
    """The term `no coding`: the proof counts messages of one chunk."""
    return "no coding"


def only_forwarding(instance: "Instance", _: Mapping[str, Any]) -> str | None:
    """The term `switches only forward`, since the proof counts transfers between nodes that add; None without other switches."""
    others = (instance.topology.kind == NodeKind.SWITCH) & ~instance.topology.reducing
    return "switches only forward" if others.any() else None


def machine(_: "Instance", __: Mapping[str, Any]) -> str:
    """The term `machine`: the proof counts cycles."""
    return "machine"


def class_of(instance: "Instance", kind: str, witness: Mapping[str, Any]) -> list[str]:
    """The class of a bound: terms in the order of `TERMS`, the one on shares first. The witness must have been checked."""
    return ordered(term for assumption in _ASSUMED[kind] for term in _terms(assumption(instance, witness)))


def ordered(terms: Iterable[str]) -> list[str]:
    """Terms in the order in which a class lists them, with the term for any shares where there is none on shares."""
    found = set(terms)
    if not found & {EQUAL_SHARES, STATED_SHARES}:
        found.add(ANY_SHARES)
    names = [*TERMS]
    return sorted(found, key=lambda term: names.index(name_of(term)))


def name_of(term: str) -> str:
    """The name under which `TERMS` has a term."""
    return "delay D" if term.startswith("delay ") else term


def restrictions(terms: Iterable[str]) -> list[str]:
    """The terms of a class that some schedules do not meet."""
    return [term for term in terms if not TERMS[name_of(term)].is_general]


def is_general(instance: "Instance", bound: Mapping[str, Any]) -> bool:
    """Whether a checked bound holds for every schedule of the collective on the network."""
    return not restrictions(class_of(instance, bound["kind"], bound["witness"]))


def _terms(found: str | Iterable[str] | None) -> list[str]:
    return [] if found is None else [found] if isinstance(found, str) else [*found]
