"""Automatic choice: every method that applies, the fewest cycles win: in slots by closed form, or in the form that is asked for."""

from dataclasses import replace

from certree.models.collective import CollectiveKind
from certree.models.errors import UndecidedError, UnsupportedError
from certree.models.symmetric import AnySchedule
from certree.synth.method import METHODS, Form, Request, read_options

#: first what takes no time, so that an interruption leaves something; of equally fast schedules the earlier method's is kept
SEARCHES = ("ring", "multitree", "symmetric", "packing", "retime", "exact")
#: published algorithms that have few transfers or few rivals
LEAN = (
    "ring",
    "binomial",
    "recursive-doubling",
    "halving-doubling",
    "netreduce",
    "gentree",
    "asymmetric-cps",
    "direct",
    "hierarchical-all-to-all",
)
#: those that move something between all pairs at many stages: not tried beyond so many endpoints
DENSE = (
    "hierarchical",
    "blueconnect",
    "hierarchical-cps",
    "double-binary-tree",
    "hdrm",
    "ring-2d",
    "switch-fc",
    "tencent",
    "cps",
    "reduce-broadcast",
    "tree-all-to-all",
    "ring-all-to-all",
)
DENSE_ENDPOINTS = 128
#: those that make something else than what is asked for unless one names them: shares of ranks that are not alike
ASKED_FOR = ("free-shares",)
#: beyond so many endpoints only methods that write out no transfer for each pair of them are tried, where all of them have to get
#: something from all others: a row for each pair would not fit in memory
PAIRWISE_ENDPOINTS = 4096
SPARSE = ("netreduce", "symmetric")
#: an all-reduce of more bytes an endpoint on a direct network is left to the searches
SEARCHED_BYTES = 4096


@METHODS.register("auto")
def auto(request: Request) -> AnySchedule:
    """The best of all methods at the given size and machine, by the closed form of slotted runs or by `Request.form`.

    The provenance says what was compared, and how. No options. In slots all-reduces of more than SEARCHED_BYTES for each endpoint
    on direct networks are left to the searches: on all we measured they outran the published algorithms. Elsewhere those are
    tried too, the ones with most transfers up to DENSE_ENDPOINTS; beyond PAIRWISE_ENDPOINTS only SPARSE ones, and ASKED_FOR never.
    Within a time limit it stops after the method that reached it.
    """
    read_options(request, "auto", {})
    order: tuple[str, ...] = SEARCHES
    endpoints, is_all_reduce = len(request.topology.endpoints), request.collective.kind is CollectiveKind.ALL_REDUCE
    is_large = is_all_reduce and request.message_bytes > SEARCHED_BYTES * endpoints
    if not (request.form is None and request.topology.is_direct and is_large):
        dense = DENSE if endpoints <= DENSE_ENDPOINTS else ()
        order = tuple(dict.fromkeys((*LEAN, *dense, *SEARCHES)))
    if endpoints > PAIRWISE_ENDPOINTS and not request.collective.has_one_root:
        order = SPARSE
    form = request.form or Form("in slots", request.cycles)
    inner = request if request.form is None else replace(request, monitor=request.monitor.watching())  # it compares other times
    considered: dict[str, str] = {}
    best: tuple[int, str, AnySchedule] | None = None
    for name in order:
        if best is not None and request.monitor.expired:
            considered[name] = "not tried: time limit"
            continue
        try:
            schedule = METHODS[name](replace(inner, options={}))
            cycles = form.cycles(schedule)
        except (UnsupportedError, UndecidedError) as error:
            considered[name] = str(error)
            continue
        request.monitor.offer(schedule, cycles)
        considered[name] = f"{cycles} cycles"
        request.monitor.report(f"{name}: {cycles} cycles")
        if best is None or cycles < best[0]:
            best = (cycles, name, schedule)
    if best is None:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in considered.items())
        raise UnsupportedError(f"no method applies: {reasons}")
    cycles, name, schedule = best
    why = f"{name}: fewest cycles {form.name} ({cycles}) at {request.message_bytes} bytes on machine {request.machine.name}"
    request.monitor.report(f"picked {why}")
    return replace(schedule, provenance={**schedule.provenance, "auto": {"why": why, "considered": considered}})
