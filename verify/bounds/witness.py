"""Lower bounds and the witnesses that prove them, re-checked exactly and without any solver.

A bound is a JSON document {"kind", "quantity": "bandwidth" | "latency", "value", "class", "witness"}; documents of earlier versions
have no "class". The class lists what the bound assumes of schedules (`bounds.classes`). Bandwidth values are coefficients of
M/B: rounds that any schedule needs per chunk, as the message grows, written as a rational ("9/16"); latency values are steps of
one iteration ("15"). The value must be exactly the one that the witness proves.

Every proof rests on this: a transfer moves one chunk of one iteration; over each link of its path it is one *message* of one chunk
unit, and a link carries at most `capacity` messages per round. A collective that needs m messages per chunk over links of total
capacity c takes at least m / c rounds per chunk, however often the schedule repeats.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.models.common.columns import int_column
from certree.models.common.errors import CertreeError, short
from certree.models.common.fields import Fields
from certree.models.common.registry import Registry, import_folder
from certree.verify.bounds.classes import class_of
from certree.verify.bounds.instance import Instance
from certree.verify.rule import Subject, rule
from certree.verify.wording import network_text

QUANTITIES = ("bandwidth", "latency")
_KEYS, CLASS = ("kind", "quantity", "value", "witness"), "class"  # documents of earlier versions have no class
_RATIONAL = re.compile(r"[1-9][0-9]{0,30}(/[1-9][0-9]{0,30})?")

Bound = dict[str, Any]


class WitnessError(CertreeError):
    """A bound that its witness does not prove. `rule`: witness-malformed, witness-foreign, witness-wrong or witness-value."""

    exit_code = 1

    def __init__(self, rule: str, message: str) -> None:
        super().__init__(message)
        self.rule, self.message = rule, message


#: kind -> (instance, witness document) -> (quantity, value that the witness shows); raises WitnessError
WITNESSES: Registry[Callable[[Instance, Mapping[str, Any]], tuple[str, Fraction]]] = Registry("witness")


def load_witnesses() -> Registry[Callable[[Instance, Mapping[str, Any]], tuple[str, Fraction]]]:
    """The registry, with every module of `certree.verify.bounds.witnesses` imported."""
    import_folder("certree.verify.bounds.witnesses")
    return WITNESSES


@rule(
    "witness-malformed",
    "a bound or its witness is not a document of this kind, or names nodes that do not exist",
    "certificate.bounds.1.witness.label = []",
    Subject.BOUNDS,
)
@rule(
    "witness-foreign",
    "this kind of witness does not apply to the collective or network",
    'certificate.bounds.0.kind = "cut"; certificate.bounds.0.witness = {"set": [0]}',
    Subject.BOUNDS,
)
@rule(
    "witness-wrong",
    "the witness proves nothing",
    'certificate.bounds.0.kind = "partition"; certificate.bounds.0.witness = {"part": [0, 0, 0, 0, 0]}',
    Subject.BOUNDS,
)
@rule(
    "witness-class",
    "the stated class is not what the bound assumes",
    'certificate.bounds.0.class = ["equal shares"]',
    Subject.BOUNDS,
)
@rule(
    "witness-value",
    "the witness proves a value other than the stated one, higher or lower",
    'certificate.bounds.0.value = "1/100"',
    Subject.BOUNDS,
)
def check_bound(instance: Instance, bound: Any) -> Fraction:
    """The value of a bound, once its witness proves exactly that value for this instance.

    Raises WitnessError: `witness-malformed` (not a document of this kind, or nodes that are not in the topology),
    `witness-foreign` (the kind does not apply to this collective or topology), `witness-wrong` (the witness proves nothing),
    `witness-value` (it proves another value), `witness-class` (its class is another one). O(nodes + links).
    """
    fields, kinds = Fields(bound, "bound", malformed).only(*_KEYS, optional=[CLASS]), load_witnesses()
    kind, value = fields.text("kind", known=kinds), fields.text("value")
    quantity = fields.choice("quantity", QUANTITIES)
    if not _RATIONAL.fullmatch(value) or str(Fraction(value)) != value:
        fields.refuse(f"value is {short(value)}; allowed: a positive rational in lowest terms, such as '9/16' or '15'")
    witness = fields.table_of("witness").table
    shown_for, shown = kinds[kind](instance, witness)
    if shown_for != quantity:
        raise WitnessError("witness-wrong", f"a {kind} witness bounds the {shown_for}, not the {quantity}")
    if shown != Fraction(value):
        raise WitnessError("witness-value", f"the {kind} witness shows a {quantity} bound of {shown}, not {value}")
    check_class(instance, kind, bound)
    return shown


def check_class(instance: Instance, kind: str, bound: Mapping[str, Any]) -> None:
    """Raise WitnessError with rule `witness-class` unless a bound, whose witness was checked, states no class or the true one."""
    true = class_of(instance, kind, bound["witness"])
    stated = bound.get(CLASS, true)
    if not isinstance(stated, list) or stated != true:
        raise WitnessError("witness-class", f"a {kind} bound has the class {', '.join(true)} here, not {short(stated)}")


def with_class(instance: Instance, bound: Bound) -> Bound:
    """The document of a checked bound with its class, which a document of an earlier version does not state."""
    stated = {CLASS: class_of(instance, bound["kind"], bound["witness"])}
    return {name: (bound | stated)[name] for name in ("kind", "quantity", "value", CLASS, "witness")}


def malformed(message: str) -> WitnessError:
    """The error for a document that is not a witness."""
    return WitnessError("witness-malformed", message)


def only_fields(kind: str, witness: Mapping[str, Any], names: Sequence[str]) -> None:
    """Raise unless the witness document has exactly these fields."""
    Fields(witness, f"{kind} witness", malformed).only(*names)


def node_id(instance: Instance, kind: str, value: Any) -> int:
    """The id of a node that exists."""
    count = len(instance.topology.kind)
    if type(value) is not int or not 0 <= value < count or not instance.exists[value]:
        raise malformed(f"{kind} witness: {short(value)} is not a node of {network_text(instance.topology)}")
    return value


def node_numbers(instance: Instance, kind: str, name: str, value: Any, absent: int = -1) -> NDArray[np.int64]:
    """A list with one number for each node id, from 0, and `absent` for ids of removed nodes."""
    count = len(instance.topology.kind)
    numbers = int_column(value, f"{kind} witness: {name}", -1, count - 1, count, malformed).astype(np.int64)
    wrong = np.flatnonzero(np.where(instance.exists, numbers < 0, numbers != absent))
    if len(wrong):
        raise malformed(
            f"{kind} witness: node {wrong[0]} has the {name} number {numbers[wrong[0]]}; -1 is for removed nodes, and only for them"
        )
    return numbers


def node_set(instance: Instance, kind: str, value: Any) -> NDArray[np.bool_]:
    """Flags by node id for a list of distinct existing nodes; of the endpoints that take part, some are in it and some are not."""
    if not isinstance(value, list) or not value:
        raise malformed(f"{kind} witness: set must be a list of node ids")
    flags = np.zeros(len(instance.topology.kind), np.bool_)
    for entry in value:
        flags[node_id(instance, kind, entry)] = True
    if flags.sum() != len(value):
        raise malformed(f"{kind} witness: set names a node twice")
    if not (flags & instance.is_member).any() or not (~flags & instance.is_member).any():
        raise WitnessError("witness-wrong", f"{kind} witness: the set must have {instance.noun} inside and one outside")
    return flags


def make_bound(instance: Instance, kind: str, witness: Bound) -> Bound:
    """The bound document of a witness, with the value that it proves; WitnessError when it proves nothing."""
    quantity, value = load_witnesses()[kind](instance, witness)
    return with_class(instance, {"kind": kind, "quantity": quantity, "value": str(value), "witness": witness})


def best_bounds(instance: Instance, bounds: Sequence[Bound]) -> dict[str, tuple[Fraction, Bound]]:
    """The largest re-checked value of each quantity among `bounds`, and the first bound with that value. Raises WitnessError."""
    return best_of([(check_bound(instance, bound), bound) for bound in bounds])


def best_of(checked: Sequence[tuple[Fraction, Bound]]) -> dict[str, tuple[Fraction, Bound]]:
    """The largest value of each quantity among bounds that were checked, and the first bound with that value."""
    best: dict[str, tuple[Fraction, Bound]] = {}
    for value, bound in checked:
        if bound["quantity"] not in best or value > best[bound["quantity"]][0]:
            best[bound["quantity"]] = (value, bound)
    return best
