"""Runs of tables with endpoints. `ideal` bounds other systems with the same chunks: it keeps the order of messages of their runs.

A run in which nothing takes time at the endpoints can end later than another: messages that come earlier may go in another order.
So `ideal` is the fastest of several runs. One is its own. On lanes there is one more for each other system: it keeps the order in
which lanes carried messages there, and in that order nothing can happen later than there, since each time is the largest of times
that are no later. Through routers, whose flits take turns, and where routers would add something to the run in that order, a run of
another system bounds itself: endpoints at which nothing takes time can hand every message over, and take it in, when those did.
"""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from certree.api.runs.any_timing import with_proof
from certree.api.runs.deadlocks import require_free
from certree.extras.endpoints.model.endpoint import Endpoint, Runs, load_endpoint
from certree.extras.endpoints.model.named_system import named_system
from certree.extras.endpoints.run.tables.iterations import in_iterations
from certree.extras.endpoints.run.tables.table_endpoints import UNITS, TableEndpoints, bound_of
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
    trace is that of the run which was the fastest; through routers that may be one of another system. Where both traces are to be
    in one file they are, with endpoints or without."""
    if options.has_one_trace:
        return with_one_trace(options, lambda apart: run_with_endpoints(source, apart))
    model = options.endpoint
    if model is None:
        return run(source, options)
    assert isinstance(model, TableEndpoints)
    if model.system.runs is not Runs.IDEAL:
        return _run(source, options)
    engine = options.engine if options.trace_flits is None else Engine.FLIT.value  # the run that counts has flits to be traced
    untraced = replace(options, trace=None, trace_flits=None, engine=engine)
    best, kept = _run(source, untraced), options
    for found, again in in_other_orders(source, untraced, model):
        if not found.deadlock and (best.deadlock or found.cycles < best.cycles):
            best, kept = found, replace(again, trace=options.trace, trace_flits=options.trace_flits)
    if options.trace is not None or options.trace_flits is not None:
        _run(source, kept)
    return best


def _run(source: Tables | SimulatedSchedule, options: Options) -> Run:
    """A run with the endpoints of the options. Tables that these cut into iterations are other tables: whether their routes may
    deadlock, and their data are right at any timing, is asked again."""
    model = options.endpoint
    assert isinstance(model, TableEndpoints)
    if model.cut is not None and isinstance(source, Tables):
        source = in_iterations(source, model, options.mode)
        if not options.leaves_routers_out:
            require_free(source)
        options = with_proof(source, options)
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


def in_other_orders(source: Tables | SimulatedSchedule, options: Options, ideal: TableEndpoints) -> Iterator[tuple[Run, Options]]:
    """Runs that bound those of the other systems, with the options that make them again."""
    for system in ideal.endpoint.systems:
        if system.runs is Runs.IDEAL:
            continue
        recording = TableEndpoints(ideal.endpoint, system, ideal.computing, records=True, cut=ideal.cut)
        of_system = replace(options, endpoint=recording)
        try:
            other = _run(source, of_system)
        except UnsupportedError:  # it runs nothing that could be bounded
            continue
        if other.deadlock:
            continue
        if other.engine == Engine.FLIT:
            yield _without_endpoints(other, ideal, source), of_system
            continue
        cut = None if ideal.cut is None else replace(ideal.cut, period=recording.runs[1] or None)  # the same tables
        kept = replace(ideal, keeps=recording.order, of=system.name, cut=cut)
        again = replace(options, endpoint=kept, engine=Engine.FAST.value)
        try:
            yield _run(source, again), again
        except UnsupportedError:  # routers may add something to it
            yield _without_endpoints(other, ideal, source), of_system


def _without_endpoints(other: Run, ideal: TableEndpoints, source: Tables | SimulatedSchedule) -> Run:
    """A run through routers, up to its last arrival, as one of endpoints that hand messages over when those did."""
    assert other.endpoint is not None
    assert isinstance(source, Tables)
    counts = {"memory_bytes": 0, "bound_cycles": bound_of(source, ideal.endpoint, ideal.system).cycles}
    cycles, busiest = other.endpoint.usable_cycles, other.max_link_utilization
    idle = {name: Fraction(0) for name in UNITS if name != "memory_bus" or not ideal.computing}
    kept = {name: other.endpoint.counts[name] for name in ("iterations", "period") if name in other.endpoint.counts}
    used = replace(other.endpoint, system=ideal.name, order=other.endpoint.system, occupancy=idle, counts=counts | kept, delays={})
    share = None if busiest is None else busiest * Fraction(other.cycles, max(1, cycles))
    return replace(other, cycles=cycles, endpoint=used, max_link_utilization=share)
