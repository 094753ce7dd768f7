"""The interface of synthesis methods: requests, options and the registry."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction
from typing import Any, TypeVar

from certree.models.common.errors import InputError, UndecidedError, UnsupportedError, suggestion
from certree.models.common.extras import import_plug_ins
from certree.models.common.registry import Registry, import_folder
from certree.models.fine.timed_schedule import timed
from certree.models.machine.machine import Machine
from certree.models.network.topology import Int32, Topology
from certree.models.schedule.collective import Collective, CollectiveKind
from certree.models.schedule.made_for import MadeFor
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule
from certree.synth.deadlock_free_routes import with_channels
from certree.synth.monitor import Monitor
from certree.synth.price import Price
from certree.synth.units import UNIT, in_unit_asked_for, other_units
from certree.verify.deadlock.deadlock_verdicts import refusal
from certree.verify.order.agreement import lateness, waits_for_credits
from certree.verify.order.wanted import WantedOrder

_Made = TypeVar("_Made", bound=AnySchedule)


@dataclass(frozen=True)
class Form:
    """An execution model for comparing candidates: its name, and the cycles of a schedule.

    `cycles` raises UnsupportedError for a schedule that cannot run in this model.
    """

    name: str
    cycles: Callable[[AnySchedule], int]


@dataclass(frozen=True)
class Request:
    """One synthesis task. Candidates are timed with `message_bytes` and `machine`.

    `chunks` (K of one iteration) and `steps` (an upper limit) are None when the method may choose. `options` are the method's own,
    as typed. `effort` is a deterministic budget, 1 being the usual one. `form`: the execution model in which `auto` compares
    candidates; None is slotted, in closed form, by which all methods choose among their own candidates. `any_unit`: methods may
    count link rates in other units than the network does. `order`: of additions, that all chunks must have. `admit` raises
    UnsupportedError for a schedule that is not worth deadlock-free routes. InputError names a number that is out of range.
    """

    topology: Topology
    collective: Collective
    message_bytes: int
    machine: Machine
    chunks: int | None = None
    steps: int | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    effort: int = 1
    seed: int = 0
    monitor: Monitor = field(default_factory=Monitor)
    form: Form | None = None
    any_unit: bool = True
    order: WantedOrder | None = None
    admit: "Callable[[Request, AnySchedule], None] | None" = None

    def __post_init__(self) -> None:
        for name, low in (("message_bytes", 1), ("chunks", 1), ("steps", 1), ("effort", 1), ("seed", 0)):
            value = getattr(self, name)
            if value is not None and value < low:
                raise InputError(f"{name} is {value}; allowed: whole numbers from {low}")

        object.__setattr__(self, "collective", self.collective.fitted(self.topology))

    @property
    def members(self) -> Int32:
        """The ids of the endpoints that take part, ascending: all of them where the collective names none."""
        return self.collective.members_of(self.topology)

    def cycles(self, schedule: AnySchedule) -> int:
        """Closed-form cycles of a candidate at this request's message size and machine.

        Steps of several rounds are spread over steps of one; UnsupportedError where that is impossible (`slotted`). A schedule with
        fine slots has a time only at the size and machine that it was made for; one for a demand has the time of its messages
        booked one after the other (`certree.models.fine.demand_slots`). UnsupportedError also for schedules that only slots keep in
        order, where messages may be late in the routers of the machine.
        """
        late = lateness(schedule, self.machine, self.message_bytes)
        if late is not None:
            raise UnsupportedError(late)
        is_fixed = schedule.has_fine_slots and schedule.collective.demand is None
        if is_fixed and schedule.made_for != MadeFor(self.message_bytes, self.machine):
            raise UnsupportedError("slot_cycles: the schedule was made for another message size or machine")
        return timed(schedule, self.message_bytes, self.machine).cycles

    def require_runnable(self, schedule: AnySchedule) -> None:
        """Raise UnsupportedError for a schedule that the machine does not take: routes that may deadlock, messages that may be
        late."""
        refused = refusal(schedule, self.machine, self.message_bytes)
        if refused is not None:
            raise UnsupportedError(refused)

    def rank(self, schedule: AnySchedule) -> tuple[bool, int]:
        """The sort key of a candidate: those that wait for credits in routers come last, then by `cycles`; errors as there."""
        return waits_for_credits(schedule, self.machine, self.message_bytes), self.cycles(schedule)

    def offer(self, schedule: _Made) -> _Made:
        """Hand a finished candidate to the monitor, which compares closed forms; candidates without one are ignored. Returns it,
        with the size and machine that it was made for."""
        schedule = self.remember(schedule)
        with suppress(UnsupportedError):
            waits, cycles = self.rank(schedule)
            if self.is_in_order(schedule):
                self.monitor.offer(schedule, cycles, waits=waits)
        return schedule

    def is_in_order(self, schedule: AnySchedule) -> bool:
        """Whether the schedule has the requested order of additions; other schedules set no limit for later ones."""
        return self.order is None or self.order.refusal(schedule) is None

    def remember(self, schedule: _Made) -> _Made:
        """The schedule, marked as made for this request's message size and machine; unchanged where it is marked already."""
        made_for = MadeFor(self.message_bytes, self.machine)
        return schedule if schedule.made_for == made_for else replace(schedule, made_for=made_for)

    def provenance(self, method: str, options: Mapping[str, Any], **more: Any) -> dict[str, Any]:
        """The provenance of a schedule; it has no times, so that the same input and seed give the same bytes."""
        return {"method": method, "seed": self.seed, "effort": self.effort, "options": dict(sorted(options.items())), **more}


#: the values of all options of a method, by name
Options = dict[str, Any]


@dataclass(frozen=True)
class Option:
    """One `--option name=value` of a method: its reader (raises ValueError), its default, and the values it allows."""

    read: Callable[[str], Any]
    default: Any
    allowed: str


def flag(default: bool) -> Option:
    """An option that is true or false."""
    return Option({"true": True, "false": False}.__getitem__, default, "true or false")


def choice(default: str, *others: str) -> Option:
    """An option that is one of several words."""
    words = (default, *others)
    return Option({word: word for word in words}.__getitem__, default, " or ".join(words))


def whole_number(default: int | None, low: int, high: int) -> Option:
    """An option that is a whole number in low..high."""

    def read(text: str) -> int:
        if not (text.isascii() and text.isdigit() and len(text) < 19 and low <= int(text) <= high):
            raise ValueError
        return int(text)

    return Option(read, default, f"{low} to {high}")


def node_of(request: Request) -> Option:
    """An option that is the id of a node of the requested network."""
    return whole_number(None, 0, len(request.topology.kind) - 1)


def read_options(request: Request, method: str, known: Mapping[str, Option]) -> Options:
    """The value of every known option, defaults filled in; InputError lists the known ones on a wrong name or value."""
    listing = "; ".join(f"{name}={known[name].allowed}" for name in sorted(known)) or "none"
    values = {name: option.default for name, option in known.items()}
    for name, text in request.options.items():
        if name not in known:
            raise InputError(f"{method}: unknown option {name!r}{suggestion(name, known)} known: {listing}")
        if not isinstance(text, str):
            raise InputError(
                f"{method}: option {name} is {text!r}, of type {type(text).__name__}; allowed: text, {known[name].allowed}"
            )
        try:
            values[name] = known[name].read(text)
        except (ValueError, KeyError):
            raise InputError(f"{method}: option {name}={text!r}; allowed: {known[name].allowed}") from None
    return values


def require_collective(request: Request, method: str, kinds: Sequence[CollectiveKind]) -> None:
    """Raise UnsupportedError unless the method covers the requested collective."""
    if request.collective.kind not in kinds:
        raise UnsupportedError(f"{method} does not make {request.collective.kind}; it makes {', '.join(kinds)}")


def require_shape(request: Request, method: str, chunks: int, steps: int) -> None:
    """Raise UnsupportedError unless the method's `chunks` and `steps` match the request."""
    if request.chunks not in (None, chunks):
        raise UnsupportedError(f"{method} cuts this message into {chunks} chunks; {request.chunks} were asked for")
    if request.steps is not None and request.steps < steps:
        raise UnsupportedError(f"{method} takes {steps} steps here; at most {request.steps} were asked for")


class Tier(StrEnum):
    """The stage in which `auto` tries a method."""

    ALWAYS = "always"
    PUBLISHED = "where published algorithms are tried"
    FINE = "at any size of message: it makes fine slots, message by message"
    SMALL = "likewise, on direct networks up to FINE_BYTES (`takes_fine_slots`)"
    MANY = "there, where more than MANY endpoints take part, or switches join them up to FINE_BYTES"
    ORDERS = "where an order of additions is asked for"
    SOME = "there, and where only some of few endpoints take part"
    GROUPS = "where only some endpoints take part"
    DEMANDS = "for demands, which other methods do not take"
    NAMED = "never: it makes something else than what is asked for, unless it is named"


#: see Tier.SMALL and Tier.MANY
FINE_BYTES, MANY = 1 << 20, 64


def takes_fine_slots(request: Request) -> bool:
    """Whether methods of Tier.SMALL are tried."""
    of_endpoint = request.message_bytes // (1 if request.collective.demand is None else len(request.members))
    return of_endpoint <= FINE_BYTES or not request.topology.is_direct


@dataclass(frozen=True)
class Variant:
    """Options other than the defaults with which a method is compared. `in_auto`: whether `auto` tries them (for a request).
    `is_first`: it tries them before the defaults, which are left out sooner where the variant is faster."""

    options: Mapping[str, str]
    in_auto: bool | Callable[[Request], bool] = True
    is_first: bool = False


@dataclass(frozen=True)
class Method:
    """A synthesis method; called with a request, it returns a schedule or raises UnsupportedError where it does not cover it.

    `collectives` and `options` list all that the method supports; others are refused before `make` is called. `published`: an
    algorithm, as opposed to a search, which depends on effort and size. `tier` and `order`: when `auto` tries it, and after which
    others: fast methods come first, so that an interruption leaves a result; of equally fast schedules the earlier method's is
    kept. `is_sparse`: it writes no row for each pair of endpoints, and is tried on the largest networks. `is_repeated`: it makes
    one part that repeats, a class of symmetry or a box, in little time at any scale, and is tried before all others. `is_anytime`:
    within no time it returns its first schedule. `is_sized`: its schedule depends on the size. `compares`: it leaves out what
    cannot be faster than the best schedule so far. `side_by_side`: it is tried several times at once as well, where endpoints have
    wide links or several into switches. `takes_members`: it also makes schedules in which only some endpoints take part
    (`Request.members`). `takes_demand`: it makes schedules for blocks that differ in size. `own_units`: it tries several units of
    link rates where those of the network do not divide them. `proved_within`: once a schedule for a demand is proved to take at
    most that many times the least time, no better bounds are searched, and before that no long search is made (`api.evidence`).
    `auto_options`: the options with which `auto` calls it, where these are not the defaults. `price`: its work and least cycles for
    a request with these options, in closed form (`synth.candidate_prices`); by default the price of a chunk for each endpoint.
    """

    name: str
    make: Callable[[Request, Options], AnySchedule]
    collectives: Sequence[CollectiveKind]
    options: Mapping[str, Option] | Callable[[Request], Mapping[str, Option]] = field(default_factory=dict)
    published: bool = True
    tier: Tier = Tier.PUBLISHED
    order: int = 50
    variants: Sequence[Variant] = ()
    side_by_side: bool = False
    is_sparse: bool = False
    is_repeated: bool = False
    is_anytime: bool = False
    is_sized: bool = False
    compares: bool = False
    takes_members: bool = False
    takes_demand: bool = False
    own_units: bool = False
    proved_within: Fraction | None = None
    auto_options: Mapping[str, str] = field(default_factory=dict)
    price: Callable[[Request, Options], Price] | None = None

    def __post_init__(self) -> None:  # the text of `certree list NAME`
        object.__setattr__(self, "__doc__", self.make.__doc__)

    def __call__(self, request: Request) -> AnySchedule:
        """The schedule, which remembers the request's size and machine, with virtual channels for routes that would deadlock
        without; UnsupportedError or UndecidedError says why there is none, InputError what is wrong with the options."""
        require_collective(request, self.name, self.collectives)
        if UNIT in request.options:
            return self._made_in_unit(request, str(request.options[UNIT]))
        if not self.takes_members:
            request.collective.require_no_members(f"method {self.name}")
        if not self.takes_demand:
            request.collective.require_equal_blocks(f"method {self.name}")
        return self._made_in_best_unit(request) if self.own_units and request.any_unit else self._made(request)

    def _made(self, request: Request) -> AnySchedule:
        made = self.make(replace(request, admit=None), self.read(request))
        if request.admit is not None:
            request.admit(request, made)
        made = request.remember(with_channels(made, request.machine))
        refused = None if request.order is None else request.order.refusal(made)
        if refused is not None:
            raise UnsupportedError(f"{self.name}: {refused}")
        return made

    def _made_in_unit(self, request: Request, unit: str) -> AnySchedule:
        """The schedule in the requested unit, which is not an option of `make`."""
        topology = in_unit_asked_for(request.topology, unit, self.name)
        others = {name: value for name, value in request.options.items() if name != UNIT}
        made = self(replace(request, topology=topology, options=others, any_unit=False))
        return replace(made, provenance={**made.provenance, UNIT: unit})

    def _made_in_best_unit(self, request: Request) -> AnySchedule:
        """The schedule with the fewest cycles of those in the units of the request and in `other_units`."""
        best = self._made(request)
        for topology in other_units(request.topology, request.collective):
            with suppress(InputError, UndecidedError):
                made = self._made(replace(request, topology=topology))
                if request.rank(made) < request.rank(best):
                    best = replace(made, provenance={**made.provenance, UNIT: str(1 / Fraction(topology.scale))})
        return best

    def read(self, request: Request) -> Options:
        """The values of all options for a request; InputError says what is wrong with the options that it states."""
        known = self.options(request) if callable(self.options) else self.options
        return read_options(request, self.name, known)


METHODS: Registry[Method] = Registry("method")


def method(name: str, collectives: Sequence[CollectiveKind], **fields: Any) -> Callable[[Callable[..., AnySchedule]], Method]:
    """Register the decorated function `(request, options)` as a method; `fields` are those of `Method`."""
    return lambda make: METHODS.register(name)(Method(name, make, collectives, **fields))


def load_methods() -> Registry[Method]:
    """The registry, with every module of `certree.synth.methods` and the methods of extras imported."""
    import_folder("certree.synth.methods")
    import_plug_ins("methods")
    return METHODS
