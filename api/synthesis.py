"""Synthesis of schedules, each verified and certified before it is returned."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from certree.api import parsing
from certree.api.api_errors import SearchInterrupted
from certree.api.evidence import certified_or_fail
from certree.api.inputs import size_or_default
from certree.api.parsing import Network
from certree.api.runs.runnable import form_of
from certree.api.settings import machine_for, silent
from certree.api.workers import Workers
from certree.models.common.errors import InputError
from certree.models.common.extras import provided
from certree.models.fine.rebooking import with_guards
from certree.models.machine.machine import Machine
from certree.models.schedule.collective import Collective
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule, written_out
from certree.synth.method import Method, Request, load_methods


def synthesize(
    network: Network,
    collective: str | Collective = "all-reduce",
    *,
    root: int | None = None,
    method: str = "auto",
    options: Mapping[str, Any] | None = None,
    chunks: int | None = None,
    steps: int | None = None,
    size: int | str | None = None,
    machine: str | Path | Machine | None = None,
    run: str = "slotted",
    goal: str | None = None,
    skew: int | None = None,
    drift: str | None = None,
    order: str | None = None,
    relay: str | Iterable[int] = "all",
    effort: int | None = None,
    time_limit: str | float | Fraction | None = None,
    seed: int = 0,
    seeds: int = 1,
    workers: int | Workers | None = None,
    progress: Callable[[str], None] | None = None,
) -> AnySchedule:
    """A schedule for a network, verified, with a certificate that states its bounds.

    The same arguments give the same schedule, however many workers there are, unless there is a `time_limit`.

    Parameters
    ----------
    network, collective, root
        As in `topology` and `collective`.
    method : str
        One of `certree list`; `options` may stand in it, as in "ring:bidirectional=true".
    options : mapping, optional
        The options of the method by name.
    chunks, steps : int, optional
        The chunks of one iteration, by default the method's choice, and the most steps of one.
    size : int or str, optional
        Bytes of the message for which candidates are compared; 64 MiB by default.
    machine : str, path or Machine, optional
        By default multitree, with the speeds of links that the network states.
    run : {"slotted", "paced", "fastest"}
        How candidates of method auto run where they are compared; demands are not paced.
    goal : str, optional
        One of `certree list`: only a schedule that reaches it is taken. `fastest_cycles` in the provenance is that without a goal.
    skew, drift : int and str, optional
        The cycles by which the counters of nodes may start apart: fine slots then get guards, for that size and machine. With goal
        "hardware" also a drift, such as "50ppm".
    order : str, optional
        The order in which all chunks are added: "one", "nested", "balanced", "chain", "rank", an expression such as "((0,1),(2,3))"
        or a file with one (docs/explanation/additions.md).
    relay : str or iterable of int
        The endpoints through which members of a collective may pass data, as in `relayed`.
    effort : int, optional
        A deterministic search budget, 1 by default.
    time_limit : str, float or Fraction, optional
        Seconds, in place of an effort.
    seed, seeds : int
        The best of `seeds` searches is taken, with the seeds from `seed` on.
    workers : int or Workers, optional
        Processes that share candidates of method auto and seeds, as in `sweep`; one by default, which is this process.
    progress : callable, optional
        Receives lines of progress.

    Returns
    -------
    Schedule or SymmetricSchedule
        An algorithm requested as published (`rounds=published`) may be invalid; it then has no certificate, and `verify` reports
        the violations.

    Raises
    ------
    UnsupportedError
        Where the method does not cover the request.
    InputError
        For anything malformed.
    SearchInterrupted
        On Ctrl-C, with the best schedule so far, or None.

    Examples
    --------
    >>> import certree.api as ct
    >>> ct.synthesize("ring:4", size="1MiB")
    <Schedule all-reduce on ring:4: chunks 24, steps 18, repeats 1, transfers 144>
    """
    require_one_budget(effort, time_limit)
    entry = parsing.parse_entry(method)
    method = entry.method
    if twice := sorted(set(entry.options) & set(options or {})):
        raise InputError(f"method {entry.text}: option {twice[0]} is given twice")
    if run != "slotted" and method != "auto":
        raise InputError(f"run {run} is for method auto, which compares; {method} makes one schedule, however it is run")
    if (skew or 0) < 0 or ((skew or goal) and run != "slotted"):
        raise InputError(f"skew is {skew}, run {run}; allowed: whole numbers from 0, above 0 and goals with run slotted")
    if drift is not None and goal is None:
        raise InputError("a drift is for the goal hardware")
    wanted, asked = parsing.relayed(network, collective, root, relay)
    on = machine_for(wanted, machine, progress or silent)
    message = _message_bytes(asked, size, on)
    is_plain = run == "slotted" or asked.demand is not None
    aim = None if goal is None else provided("goals")(goal, message, on, skew, drift)
    request = Request(
        topology=wanted,
        collective=asked,
        message_bytes=message,
        machine=on,
        chunks=chunks,
        steps=steps,
        options=parsing.option_texts(options) | entry.options,
        effort=effort or 1,
        seed=seed,
        monitor=parsing.monitor(time_limit, progress),
        order=None if order is None else provided("orders of additions")(order, wanted, asked.fitted(wanted)),
        form=aim.form if aim else None if is_plain else form_of(run, len(wanted.endpoints), message, on),
    )
    spread = Workers.of(workers, 1)
    if seeds < 1:
        raise InputError(f"seeds is {seeds}; allowed: whole numbers from 1")
    if time_limit is not None and (seeds > 1 or not spread.is_one):
        raise InputError("a time limit is for one search in this process; several seeds or workers take an effort")
    if seeds > 1 or (not spread.is_one and method == "auto" and asked.demand is None):
        found, interrupted = provided("candidates on workers")(
            request, load_methods()[method].name, seeds, run, progress or silent, spread, goal and (goal, skew, drift)
        )
    else:  # one method with one seed is not cut into parts; auto leaves a demand to one
        found, interrupted = _found(load_methods()[method], request)
    if found is None:
        raise SearchInterrupted(None)
    if aim is not None:
        found = aim.reached(found, load_methods()[method], request)
    elif skew:
        found = with_guards(written_out(found), message, on, skew)
    recorded = _recorded(found, request, time_limit)
    if order is not None and not interrupted:
        recorded = provided("the bound of the order of a schedule")(recorded, request.monitor)
    try:
        certified, _ = certified_or_fail(recorded, search=not interrupted, enough=load_methods()[method].proved_within)
    except KeyboardInterrupt:
        interrupted = True
        certified, _ = certified_or_fail(recorded, search=False)
    if interrupted:
        raise SearchInterrupted(certified)
    return certified


def _message_bytes(collective: Collective, size: int | str | None, machine: Machine) -> int:
    """The size of the message: the one given, or the default one, or that of a demand."""
    if collective.demand is None:
        return size_or_default(size)
    demanded = collective.demand.granules * machine.flit_bytes
    if size is not None and size_or_default(size) != demanded:
        raise InputError(f"size {size}: the demand is for {demanded} bytes on machine {machine.name}, and needs no size")
    return demanded


def require_one_budget(effort: int | None, time_limit: object) -> None:
    """Raise InputError where both an effort and a time limit are given."""
    if effort is not None and time_limit is not None:
        raise InputError("effort and time limit exclude each other: a budget is deterministic or wall time")


def _found(method: Method, request: Request) -> tuple[AnySchedule | None, bool]:
    """The schedule, or on Ctrl-C the best so far that fits the request; and whether it was interrupted."""
    try:
        return method(request), False
    except KeyboardInterrupt:
        best = request.monitor.best  # before it finds fewer steps, a method may offer schedules with more
        too_long = best is not None and request.steps is not None and best.steps > request.steps
        return None if too_long else best, True


def _recorded(schedule: AnySchedule, request: Request, time_limit: str | float | Fraction | None) -> AnySchedule:
    """The schedule with what it was made for, and how candidates were compared in its provenance."""
    asked = {} if request.form is None else {"compared": request.form.name}
    if time_limit is not None:
        asked["time_limit_seconds"] = str(parsing.seconds(time_limit))
    return request.remember(replace(schedule, provenance={**schedule.provenance, **asked}) if asked else schedule)
