"""The spacing of steps: the steps of tables for one step of the schedule, so that endpoints have more iterations in progress.

Rows fire in the order of steps. If iterations are a step apart, at most one more is in progress than the schedule has steps,
whatever state machines and SRAM hold. With idle steps between those of the schedule more fit in: row r of iteration i is in step
spacing · step(r) + i · period. These are tables like any others, with their rows in another order. More iterations in progress
are not always faster, since they share buses and links: short runs decide.
"""

from collections.abc import Callable
from dataclasses import replace
from math import gcd

from certree.extras.endpoints.run.tables.iterations import in_iterations
from certree.extras.endpoints.run.tables.table_endpoints import TableEndpoints
from certree.hw.engines.runs import Engine, Options, Run
from certree.models.common.errors import UnsupportedError
from certree.models.tables.tables import Tables

SPACINGS = range(1, 9)
#: iterations of a short run: twice as many as the state machines of ACE
SHORT = 32
#: iterations of a run up to which spacing 1 is run through routers, too
FEW = 16
#: a spacing is taken where its short run is shorter than with those before by more than one part in this many
LEAST_GAIN = 64
#: spacings in turn that are not, after which no more are tried
IN_VAIN = 2


def with_spacings(source: Tables, options: Options, run: Callable[[Tables, Options], Run]) -> list[TableEndpoints]:
    """The endpoints of the options, with a spacing where tables are cut for a paced run and none is stated; the fastest one counts.

    Spacings are tried one after the other, each by a run of one collective of SHORT iterations at most, on lanes; one with which
    idle steps are left between all iterations has the order of a smaller one, and is left out. It costs about four short runs.
    Routers may add more with another spacing: through routers spacing 1 comes second where the run has up to FEW iterations.
    """
    model = options.endpoint
    assert isinstance(model, TableEndpoints)
    cut = model.cut
    if cut is None or cut.spacing is not None or options.mode == "slotted":
        return [model]
    best, least, in_vain, is_short = 1, None, 0, False
    for spacing in SPACINGS if cut.period is None else ():
        short = replace(model, asked=None, cut=replace(cut, spacing=spacing, at_most=SHORT))
        try:
            tables = in_iterations(source, short, options.mode)
            if tables.period is None:
                break
            is_short = tables.repeats <= FEW
            if gcd(spacing, tables.period) > 1:
                continue
            found = run(tables, _on_lanes(options, short))
        except UnsupportedError:  # the run itself says why
            break
        if least is None or found.cycles * LEAST_GAIN < least * (LEAST_GAIN - 1):
            best, least, in_vain = spacing, found.cycles, 0
        else:
            in_vain += 1
        if found.deadlock or in_vain == IN_VAIN:
            break
    tried = (best, 1) if best > 1 and is_short and not options.leaves_routers_out else (best,)
    return [replace(model, cut=replace(cut, spacing=spacing)) for spacing in tried]


def _on_lanes(options: Options, model: TableEndpoints) -> Options:
    return replace(
        options, engine=Engine.FAST.value, without_routers=True, endpoint=model, others=None, longest_wait=None, trace=None,
        trace_flits=None, observer=None,
    )  # fmt: skip
