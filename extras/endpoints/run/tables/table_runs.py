"""Runs of tables with endpoints. `ideal` bounds other systems with the same chunks: it keeps the order of messages of their runs.

A run in which nothing takes time at the endpoints can end later than another: messages that come earlier may go in another order.
So `ideal` is the fastest of several runs. One is its own. On lanes there is one more for each other system: it keeps the order in
which lanes carried messages there, and in that order nothing can happen later than there, since each time is the largest of times
that are no later. Through routers, whose flits take turns, and where routers would add something to the run in that order, it hands
each message over in the cycle in which the other system did: the network then carries the same flits in the same cycles, and what
comes is taken in at once. By induction no row fires later than there, so that each message can be handed over then.

The fastest run is the one whose last end is the earliest. Of several collectives, another one may be over later than elsewhere.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from certree.api.runs.any_timing import with_proof
from certree.api.runs.deadlocks import require_free
from certree.extras.endpoints.model.endpoint import Endpoint, Runs, load_endpoint
from certree.extras.endpoints.model.named_system import named_system
from certree.extras.endpoints.run.tables.iterations import in_iterations
from certree.extras.endpoints.run.tables.spacing import with_spacings
from certree.extras.endpoints.run.tables.table_endpoints import TableEndpoints
from certree.extras.endpoints.run.tables.whole_runs import with_one_trace
from certree.hw.engines.runs import Engine, Options, Run
from certree.hw.engines.schedule_run import SimulatedSchedule
from certree.hw.run import run
from certree.models.common.errors import InputError, UnsupportedError
from certree.models.common.quantities import parse_fraction
from certree.models.tables.tables import Tables


def endpoint_of_runs(system: str, params: str | Path | Endpoint = "ace", computing: Fraction | str = Fraction(0)) -> TableEndpoints:
    """The endpoints of a system (`named_system`); InputError for a share of memory that is not between 0 and 1."""
    named = named_system(system, params if isinstance(params, Endpoint) else load_endpoint(str(params)))
    return TableEndpoints(named.endpoint, named.system, _share(computing), cut=named.cut, text=named.text)


def run_with_endpoints(source: Tables | SimulatedSchedule, options: Options) -> Run:
    """`certree.hw.run.run` with the endpoints of the options; of a system that is ideal the fastest of the runs named above. A
    trace is that of the run which was the fastest. Where both traces are to be in one file they are, with endpoints or without."""
    if options.has_one_trace:
        return with_one_trace(options, lambda apart: run_with_endpoints(source, apart))
    return run(source, options) if options.endpoint is None else fastest_run(source, options)[0]


def fastest_run(source: Tables | SimulatedSchedule, options: Options) -> tuple[Run, TableEndpoints]:
    """The run of `run_with_endpoints`, of options that have endpoints, and the endpoints that it had."""
    model = options.endpoint
    assert isinstance(model, TableEndpoints)
    is_ideal, is_traced = model.system.runs is Runs.IDEAL, options.trace is not None or options.trace_flits is not None
    if not is_ideal and len(every := spaced(source, options)) == 1:
        return _run(source, replace(options, endpoint=every[0])), every[0]
    # the run that counts may have flits to be traced
    engine = Engine.FLIT.value if options.trace_flits is not None else options.engine
    untraced = replace(options, trace=None, trace_flits=None, engine=engine)
    faster = [_fastest_spacing(source, untraced)]  # than those before

    def wins(cycles: int) -> bool:
        best = faster[-1][0]
        return bool(best.deadlock) or cycles < best.cycles

    for found, again in in_other_orders(source, untraced, model, wins) if is_ideal else ():
        if not found.deadlock and wins(found.cycles):
            faster.append((found, again))
    best, kept = faster[-1]
    if is_traced:
        _run(source, replace(kept, trace=options.trace, trace_flits=options.trace_flits))
    assert isinstance(kept.endpoint, TableEndpoints)
    return best, kept.endpoint


def spaced(source: Tables | SimulatedSchedule, options: Options) -> list[TableEndpoints]:
    """The endpoints of the options, with each of the spacings that may be the fastest where none is stated."""
    assert isinstance(options.endpoint, TableEndpoints)
    return with_spacings(source, options, _run_of) if isinstance(source, Tables) else [options.endpoint]


def _fastest_spacing(source: Tables | SimulatedSchedule, options: Options) -> tuple[Run, Options]:
    """The fastest run with the endpoints of the options, and the options with its spacing."""
    every = [replace(options, endpoint=one) for one in spaced(source, options)]
    return min(((_run(source, one), one) for one in every), key=lambda done: (bool(done[0].deadlock), done[0].cycles))


def _run(source: Tables | SimulatedSchedule, options: Options) -> Run:
    """A run with the endpoints of the options, of tables that these cut."""
    model = options.endpoint
    assert isinstance(model, TableEndpoints)
    if model.cut is not None and isinstance(source, Tables):
        return _run_of(in_iterations(source, model, options.mode), options)
    return _ended(source, options)


def _run_of(cut: Tables, options: Options) -> Run:
    """A run of tables that endpoints have cut into iterations. They are other tables: whether their routes may deadlock, and their
    data are right at any timing, is asked again."""
    if not options.leaves_routers_out:
        require_free(cut)
    return _ended(cut, with_proof(cut, options))


def _ended(source: Tables | SimulatedSchedule, options: Options) -> Run:
    try:
        return run(source, options)
    except OverflowError:
        raise UnsupportedError(
            "the run has more ticks of rates than 64 bits count: take a smaller message, or rates that are simpler fractions of "
            "the clock"
        ) from None


def _share(computing: Fraction | str) -> Fraction:
    share = parse_fraction(computing, "computing") if isinstance(computing, str) else computing
    if not 0 <= share <= 1:
        raise InputError(f"computing {share}; allowed: a share of the memory bandwidth from 0 to 1, such as 3/5")
    return share


def in_other_orders(
    source: Tables | SimulatedSchedule, options: Options, ideal: TableEndpoints, may_win: Callable[[int], bool]
) -> Iterator[tuple[Run, Options]]:
    """Runs of `ideal` that bound those of the other systems, with the options that make them again; without those that take longer
    than a number of cycles with which they do not win."""
    for system in ideal.endpoint.systems:
        if system.runs is Runs.IDEAL:
            continue
        own = TableEndpoints(ideal.endpoint, system, ideal.computing, records=True, cut=ideal.cut, asked=ideal.asked)
        try:
            other, recorded = _fastest_spacing(source, replace(options, endpoint=own))
        except UnsupportedError:  # it runs nothing that could be bounded
            continue
        recording = recorded.endpoint
        assert isinstance(recording, TableEndpoints)
        if other.deadlock:
            continue
        cut = None if recording.cut is None else replace(recording.cut, period=recording.runs[1] or None)  # the same tables
        if other.engine != Engine.FLIT:
            kept = replace(ideal, keeps=recording.order, of=system.name, cut=cut, begins=recording.began)
            again = replace(options, endpoint=kept, engine=Engine.FAST.value, without_routers=options.leaves_routers_out)
            try:
                yield _run(source, again), again
                continue
            except UnsupportedError:  # routers may add something to it
                pass
        if may_win(recording.last_complete + 1):  # a message is usable a cycle later at best
            kept = replace(ideal, hand_over=recording.handed, of=system.name, cut=cut, begins=recording.began)
            again = replace(options, endpoint=kept, engine=other.engine)
            yield _run(source, again), again
