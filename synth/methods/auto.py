"""Automatic choice: every method that applies, the fewest cycles win: in slots by closed form, or in the form that is asked for."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from certree.models.common.errors import UndecidedError, UnsupportedError
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.symmetric import AnySchedule
from certree.synth.method import METHODS, Form, Request, read_options
from certree.synth.ranks.embedding import MOST_CHANNELS

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
#: algorithms for ranks that are tried several times side by side as well, where endpoints have wide links or several into switches
SIDE_BY_SIDE = ("ring", "binomial", "recursive-doubling", "halving-doubling", "direct", "hierarchical", "double-binary-tree", "cps")
#: others than their defaults that published algorithms are tried with
VARIANTS = {
    "ring": {"bidirectional": "true"},
    "ring-2d": {"form": "nested"},
    "ring-all-to-all": {"bidirectional": "true"},
    "multitree": {"order": "authors"},
}
#: up to so many endpoints what `symmetric` makes is re-timed as well, where it reduces: beyond, looking at its rows takes long
RETIMED_ENDPOINTS = 256
#: an all-reduce of more bytes an endpoint on a direct network is left to the searches
SEARCHED_BYTES = 4096


@METHODS.register("auto")
def auto(request: Request) -> AnySchedule:
    """The best of all methods at the given size and machine, by the closed form of slotted runs or by `Request.form`.

    The provenance says what was compared, and how. No options. In slots all-reduces of more than SEARCHED_BYTES for each endpoint
    on direct networks are left to the searches: on all we measured they outran the published algorithms. Elsewhere those are
    tried too, with VARIANTS of their options and SIDE_BY_SIDE, the ones with most transfers up to DENSE_ENDPOINTS; beyond
    PAIRWISE_ENDPOINTS only SPARSE ones, and ASKED_FOR never. Within a time limit it stops after the method that reached it.
    """
    read_options(request, "auto", {})
    form = request.form or Form("in slots", request.cycles)
    inner = request if request.form is None else replace(request, monitor=request.monitor.watching())  # it compares other times
    considered: dict[str, str] = {}
    times: dict[str, int] = {}
    best: tuple[int, str, AnySchedule] | None = None
    for label, name, options in candidates(request):
        if best is not None and request.monitor.expired:
            considered[label] = "not tried: time limit"
            continue
        try:
            schedule = METHODS[name](replace(inner, options=options))
            cycles = form.cycles(schedule)
        except (UnsupportedError, UndecidedError) as error:
            considered[label] = str(error)
            continue
        request.monitor.offer(schedule, cycles)
        considered[label], times[label] = f"{cycles} cycles", cycles
        request.monitor.report(f"{label}: {cycles} cycles")
        if best is None or cycles < best[0]:
            best = (cycles, label, schedule)
    if best is None:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in considered.items())
        raise UnsupportedError(f"no method applies: {reasons}")
    why, schedule = _reason(request, form, best[1], times), best[2]
    request.monitor.report(f"picked {why}")
    return replace(schedule, provenance={**schedule.provenance, "auto": {"why": why, "considered": considered}})


def _reason(request: Request, form: Form, picked: str, times: dict[str, int]) -> str:
    """Why this one: its cycles, of how many schedules, and which comes next."""
    why = f"{picked}: fewest cycles {form.name} ({times[picked]}) of {len(times)} schedules"
    why += f" at {request.message_bytes} bytes on machine {request.machine.name}"
    others = sorted((cycles, label) for label, cycles in times.items() if label != picked)
    return why + "".join(f"; next {label}, {cycles / times[picked]:.3f} times as long" for cycles, label in others[:1])


def candidates(request: Request) -> Iterator[tuple[str, str, dict[str, str]]]:
    """(label, method, options) of all that `auto` compares for this request."""
    topology, endpoints = request.topology, len(request.topology.endpoints)
    is_large = request.collective.kind is CollectiveKind.ALL_REDUCE and request.message_bytes > SEARCHED_BYTES * endpoints
    if endpoints > PAIRWISE_ENDPOINTS and not request.collective.has_one_root:
        yield from ((name, name, {}) for name in SPARSE)
    else:
        searched = request.form is None and topology.is_direct and is_large
        published = () if searched else (*LEAN, *(DENSE if endpoints <= DENSE_ENDPOINTS else ()))
        for name in dict.fromkeys((*published, *SEARCHES)):
            for options in ({}, *_variants(name, request, published)):
                yield ":".join([name, *[f"{key}={value}" for key, value in options.items()]]), name, options


def _variants(name: str, request: Request, published: Sequence[str]) -> Iterator[dict[str, str]]:
    """Options that a method is tried with beside its defaults: those of VARIANTS where published algorithms are tried at all, and
    these side by side, which uses links that a single message leaves idle: wide ones, several into switches, and on the ways of
    blocks that pass other endpoints. Reductions in slots of their own are what re-timing gives `symmetric`."""
    topology = request.topology
    is_retimed = topology.is_direct and request.collective.reduces and len(topology.endpoints) <= RETIMED_ENDPOINTS
    if name == "retime" and is_retimed:
        yield {"of": "symmetric"}
    if not published:
        return
    if name in VARIANTS:
        yield VARIANTS[name]
    is_dense = len(topology.endpoints) <= DENSE_ENDPOINTS
    if name == "recursive-doubling" and request.collective.kind is CollectiveKind.ALL_REDUCE and is_dense:
        yield {"exchange": "groups"}
    width = int(topology.capacity[topology.src == topology.endpoints[0]].sum())
    has_room = not topology.is_direct or int(topology.pair_capacity.max()) > 1 or request.collective.has_targets
    if name in SIDE_BY_SIDE and width > 1 and has_room:
        yield {"channels": str(min(width, MOST_CHANNELS))}
