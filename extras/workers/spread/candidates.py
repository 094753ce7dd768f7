"""The candidates of a synthesis, for one seed or several, on many workers: the same schedule as by one worker, one after the other.

What a method finds depends on those before it only where it leaves out what cannot be faster (`Method.compares`). All others run
at once; those that compare run in rounds, each with the bar that it has when candidates run one after the other. Methods that
repeat a part run before all others, and what they find may be enough.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import astuple, dataclass, field, replace
from functools import cached_property
from typing import Any

from certree.api.runs.runnable import form_of
from certree.api.workers import Workers
from certree.extras.workers.batch import outcomes_of
from certree.extras.workers.networks import received, sent
from certree.extras.workers.task import Task
from certree.models.common.errors import RejectedError, UndecidedError, UnsupportedError
from certree.models.common.extras import provided
from certree.models.common.progress import Counted
from certree.models.machine.machine import machine_from_document
from certree.models.schedule.symmetric.symmetric_file import any_schedule_document, any_schedule_from_document
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule
from certree.synth.bounds.quick import quick_time_bound
from certree.synth.candidate_prices import Ledger, built_price
from certree.synth.fine.paced import may_be_paced
from certree.synth.method import METHODS, Form, Request
from certree.synth.methods.auto import (
    ended,
    enough_words,
    is_enough,
    none_applies,
    outcome_words,
    picked,
    priced_candidates,
    require_valid,
)
from certree.synth.monitor import Monitor
from certree.synth.price import FREE, Price
from certree.verify.order.agreement import waits_for_credits
from certree.verify.order.wanted import wanted_from_document

AUTO = "auto"


@dataclass(frozen=True)
class _Candidate:
    """A method with options and a seed; `place`: of the candidates of that seed."""

    seed: int
    place: int
    label: str
    method: str
    options: Mapping[str, str]
    price: Price = FREE

    @property
    def name(self) -> str:
        """The name of its task."""
        return f"{self.label}, seed {self.seed}"


@dataclass
class Spread:
    """A synthesis by one method or by auto, for the seeds from that of the request on; `run` as in `form_of`."""

    request: Request
    method: str
    seeds: int
    run: str
    tell: Callable[[str], None]
    goal: Sequence[Any] | None = None  # its name, and skew and drift, where there is one
    _found: dict[tuple[int, int], dict[str, Any]] = field(default_factory=dict)
    _priced: dict[int, list[_Candidate]] = field(default_factory=dict)

    def made_by(self, workers: Workers) -> tuple[AnySchedule | None, bool]:
        """The schedule with the fewest cycles, of equal ones that of the first seed and candidate; and whether Ctrl-C ended the
        search. The schedule is None where nothing was found until then; UnsupportedError where nothing can be."""
        try:
            self._run(workers)
        except KeyboardInterrupt:
            return self._best(interrupted=True), True
        return self._best(interrupted=False), False

    @property
    def _seeds(self) -> range:
        return range(self.request.seed, self.request.seed + self.seeds)

    def _candidates(self, seed: int) -> list[_Candidate]:
        """The candidates of one seed. An algorithm does not depend on it: it is a candidate of the first."""
        if seed not in self._priced:
            self._priced[seed] = self._listed(seed)
        return self._priced[seed]

    def _listed(self, seed: int) -> list[_Candidate]:
        if self.method != AUTO or self.request.collective.demand is not None:
            return [_Candidate(seed, 0, self.method, self.method, self.request.options)]
        return [_Candidate(seed, place, *one) for place, one in enumerate(priced_candidates(self.request, self._bound))]

    def _run(self, workers: Workers) -> None:
        seeds = {seed: self._candidates(seed) for seed in self._seeds}
        first = self.request.seed
        left = [one for seed, those in seeds.items() for one in those if seed == first or not METHODS[one.method].published]
        total = len(left)
        while left and not self._is_over(seeds):
            left = [one for one in left if not self._is_refused(one, seeds)]
            ready = [one for one in left if not self._waits(one, left)]
            with closing(outcomes_of([self._task(one) for one in ready], workers)) as outcomes:
                names = {one.name: one for one in ready}
                for task, outcome in outcomes:
                    one = names[task.label]
                    self._found[one.seed, one.place] = found = outcome.value()
                    said = found["reason"] if found["cycles"] is None else f"{found['cycles']} cycles"
                    self.tell(Counted(f"{task.label}: {said}", len(self._found), total))
            left = [one for one in left if one not in ready]

    def _waits(self, one: _Candidate, left: Iterable[_Candidate]) -> bool:
        """Whether a candidate needs the times of earlier ones that are not there; all others need those that repeat a part, which
        may be enough."""
        if not METHODS[one.method].is_repeated and any(METHODS[other.method].is_repeated for other in left):
            return True
        before = [other for other in left if other.place < one.place and other.seed in (one.seed, self.request.seed)]
        return METHODS[one.method].compares and any(other.seed == one.seed or METHODS[other.method].published for other in before)

    def _task(self, one: _Candidate) -> Task:
        request = self.request
        arguments = {
            **sent(request.topology, request.collective),
            "machine": request.machine.document(),
            "size": request.message_bytes,
            "chunks": request.chunks,
            "steps": request.steps,
            "effort": request.effort,
            "seed": one.seed,
            "method": one.method,
            "options": dict(one.options),
            "run": self.run,
            "goal": self.goal,
            "order": None if request.order is None else request.order.document,
            "valid_only": self.method == AUTO,
            "bar": self._bar(one) if METHODS[one.method].compares else None,
        }
        return Task(one.name, candidate, arguments)

    def _is_over(self, seeds: Iterable[int]) -> bool:
        """Whether what was found is enough, for each seed."""
        return (
            self.method == AUTO and self.request.collective.demand is None and all(self._enough(seed) is not None for seed in seeds)
        )

    @cached_property
    def _bound(self) -> int:
        return quick_time_bound(self.request)

    def _enough(self, seed: int) -> int | None:
        """The place of the first candidate of a seed after which no other is tried, as by `auto` in one process; None without."""
        return next(
            (
                place
                for place, found in self._counted(seed).items()
                if found["cycles"] is not None and is_enough(found["waits"], found["cycles"], self._bound)
            ),
            None,
        )

    def _replayed(self, seed: int, every: Sequence[_Candidate]) -> tuple[Ledger, dict[int, str], int]:
        """The ledger after the first candidates of a seed, as `auto` keeps it in one process; why those were left out that were;
        and the place of the first candidate that is not known yet."""
        ledger, refused, found = (
            Ledger(self.request.effort, self._bound, len(self.request.members)),
            dict[int, str](),
            self._of_seed(seed),
        )
        for one in every:
            reason = ledger.refusal(one.price, in_slots=self.request.form is None)
            if reason is None and one.place not in found:
                return ledger, refused, one.place
            if reason is None and found[one.place]["built"] is not None and self.request.form is None:
                try:
                    ledger.require(Price(*found[one.place]["built"]))
                except UnsupportedError as error:
                    reason = str(error)
            if reason is not None:
                refused[one.place] = reason
            elif found[one.place]["cycles"] is not None:
                transfers = found[one.place]["transfers"]
                cycles = None if found[one.place]["waits"] else found[one.place]["cycles"]
                ledger.note(one.price.of(transfers), one.label, cycles, transfers)
        return ledger, refused, len(every)

    def _is_refused(self, one: _Candidate, seeds: Mapping[int, Sequence[_Candidate]]) -> bool:
        """Whether `auto` in one process builds a candidate for no seed that it counts for, as far as that is known: what is
        left of the budget, and the cycles of the best schedule, only become less."""
        if self.method != AUTO or self.request.collective.demand is not None:
            return False
        counts_for = seeds if METHODS[one.method].published else [one.seed]
        ledgers = (self._replayed(seed, seeds[seed])[0] for seed in counts_for)
        return all(ledger.refusal(one.price, in_slots=self.request.form is None) is not None for ledger in ledgers)

    def _counted(self, seed: int, *, interrupted: bool = False) -> dict[int, dict[str, Any]]:
        """The results of `auto` in one process for a seed, by place, up to the first candidate that is not known yet, if that did
        not end the search."""
        found = self._of_seed(seed)
        if self.method != AUTO or self.request.collective.demand is not None:
            return found
        _, refused, known = self._replayed(seed, self._candidates(seed))
        return {place: one for place, one in found.items() if place not in refused and (place < known or interrupted)}

    def _of_seed(self, seed: int) -> dict[int, dict[str, Any]]:
        """The results for one seed, by place; algorithms are those of the first."""
        first = {place: found for (other, place), found in self._found.items() if other == self.request.seed}
        own = {place: found for (other, place), found in self._found.items() if other == seed}
        return dict(sorted({**{place: found for place, found in first.items() if found["published"]}, **own}.items()))

    def _bar(self, one: _Candidate) -> int | None:
        """The fewest cycles of all that earlier candidates came across."""
        before = [found["least"] for place, found in self._counted(one.seed).items() if place < one.place]
        return min((cycles for cycles in before if cycles is not None), default=None)

    def _best(self, *, interrupted: bool) -> AnySchedule | None:
        timed = [
            (found["waits"], found["cycles"], seed, place)
            for (seed, place), found in self._found.items()
            if found["cycles"] is not None
        ]
        if not timed:
            if interrupted:
                return None
            if self.method == AUTO:
                labels = {(one.seed, one.place): one.label for seed in self._seeds for one in self._candidates(seed)}
                raise none_applies({labels[key]: found["reason"] for key, found in self._found.items()})
            raise UnsupportedError("; ".join(dict.fromkeys(found["reason"] for found in self._found.values())))
        if self.method != AUTO or self.request.collective.demand is not None:
            *_, seed, place = min(timed)
            return _schedule(self._found[seed, place])
        ends = [self._end(seed, interrupted=interrupted) for seed in self._seeds]
        return min((end for end in ends if end is not None), key=lambda end: end[0][:2])[1]

    def _end(self, seed: int, *, interrupted: bool) -> tuple[tuple[bool, int, int], AnySchedule] | None:
        """(rank, schedule) that auto picks for one seed; None where it has found nothing yet."""
        every = {one.place: one for one in self._candidates(seed)}
        labels = {place: one.label for place, one in every.items()}
        last, found = self._enough(seed), self._counted(seed, interrupted=interrupted)
        ledger, refused, _ = self._replayed(seed, list(every.values()))
        if last is not None:
            found = {place: one for place, one in found.items() if place <= last}
        said = {place: one["reason"] or outcome_words(one["cycles"], waits=one["waits"]) for place, one in found.items()}
        said |= {place: reason for place, reason in refused.items() if last is None or place < last}
        considered = {labels[place]: said[place] for place in sorted(said)}
        if last is not None:
            considered |= {label: enough_words(labels[last], self._bound) for place, label in labels.items() if place > last}
        timed = {place: one for place, one in found.items() if one["cycles"] is not None}
        if not timed:
            return None
        waits, least, order, place = min(
            (one["waits"], one["cycles"], METHODS[every[place].method].order, place) for place, one in timed.items()
        )
        times = {labels[other]: one["cycles"] for other, one in timed.items() if other == place or not one["waits"]}
        best, request = ((waits, least, order), labels[place], _schedule(found[place])), replace(self.request, seed=seed)
        if not interrupted and last is None:
            made = [(labels[place], _schedule(one)) for place, one in found.items() if one["cycles"] is not None]
            equal = [(label, schedule) for label, schedule in made if may_be_paced(request, schedule)]
            best = ended(request, considered, times, best, equal, ledger)
        rank, label, schedule = best
        form = request.form or Form("in slots", request.cycles)
        return rank, picked(request, form, considered, times, label, schedule)


def _schedule(found: Mapping[str, Any]) -> AnySchedule:
    return any_schedule_from_document(found["schedule"], "the schedule of a worker")


def candidate(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """On a worker: `cycles` and `schedule` of one candidate, or the `reason` why there is none; `least`, the fewest cycles of all
    schedules that it came across."""
    from certree.synth.method import load_methods

    topology, collective = received(arguments)
    machine = machine_from_document(arguments["machine"], "machine")
    method, size = load_methods()[arguments["method"]], arguments["size"]
    run = arguments["run"]
    if arguments["goal"]:
        name, skew, drift = arguments["goal"]
        form = provided("goals")(name, size, machine, skew, drift).form
    else:
        form = None if run == "slotted" or collective.demand is not None else form_of(run, len(topology.endpoints), size, machine)
    names = ("chunks", "steps", "options", "effort", "seed")
    monitor, wanted = Monitor(bar=arguments["bar"]), arguments["order"]
    order = None if wanted is None else wanted_from_document(wanted, collective.ranks_of(topology))
    asked = {name: arguments[name] for name in names}
    request = Request(topology, collective, size, machine, monitor=monitor, form=form, order=order, **asked)
    found: dict[str, Any] = {"cycles": None, "waits": False, "reason": None, "published": method.published, "built": None}
    try:
        schedule = method(request)
        if not method.own_units:
            found["built"] = astuple(built_price(request, schedule))
        if arguments["valid_only"]:
            require_valid(schedule)
        request.require_runnable(schedule)
        found["cycles"] = cycles = request.cycles(schedule) if form is None else form.cycles(schedule)
        found |= {"schedule": any_schedule_document(schedule), "transfers": schedule.transfers}
        if form is None:
            found["waits"] = waits_for_credits(schedule, machine, size)
            monitor.offer(schedule, cycles, waits=found["waits"])
    except (UnsupportedError, UndecidedError) as error:
        found |= {"cycles": None, "reason": str(error)}
    except RejectedError as error:  # nothing that it came across counts
        return found | {"reason": str(error), "least": arguments["bar"]}
    return found | {"least": monitor.best_cycles}


def made_by_workers(
    request: Request,
    method: str,
    seeds: int,
    run: str,
    tell: Callable[[str], None],
    workers: Workers,
    goal: Sequence[Any] | None = None,
) -> tuple[AnySchedule | None, bool]:
    """The schedule of a method, or of auto, by workers; see `Spread.made_by`."""
    return Spread(request, method, seeds, run, tell, goal).made_by(workers)
