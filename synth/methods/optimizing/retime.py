"""Re-timing: the trees of a schedule keep their shape, its transfers get new slots."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from certree.models.common.errors import InputError, UnsupportedError
from certree.models.forms.lowering_chain import takes
from certree.models.forms.schedule_form import PARTS
from certree.models.schedule.collective import SYMMETRIC_KINDS
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.symmetric.symmetric_file import load_any_schedule
from certree.models.schedule.symmetric.symmetric_schedule import written_out
from certree.synth.fine.fine_schedule import in_fine_slots, in_pieces
from certree.synth.fine.paced import with_planned_waits
from certree.synth.fine.program import program_of
from certree.synth.method import METHODS, Option, Options, Request, Tier, Variant, choice, method
from certree.synth.packing.selection import Search, Trees
from certree.synth.packing.trees import family_of

_RETIMED = takes("retime", *(part for part in PARTS if part != "rounds"), rounds=False)
#: the most endpoints for which schedules of `symmetric` that reduce are re-timed as well: for more, visiting their rows takes long
RETIMED_ENDPOINTS = 256


def _is_worth_retiming(request: Request) -> bool:
    """Whether the reductions of `symmetric` would wait less in separate slots."""
    topology = request.topology
    return topology.is_direct and request.collective.reduces and len(topology.endpoints) <= RETIMED_ENDPOINTS


@method(
    "retime",
    SYMMETRIC_KINDS,
    options={
        "of": Option(str, "multitree", "a method, with its options after commas, or a schedule file"),
        "from": choice("slots", "paced"),
        "waits": choice("routers", "senders"),
    },
    published=False,
    tier=Tier.ALWAYS,
    order=64,
    is_anytime=True,
    compares=True,
    variants=[Variant({"of": "symmetric"}, _is_worth_retiming)],
)
def retime(request: Request, options: Options) -> Schedule:
    """The trees of another schedule in new slots: phases overlap, latency hides behind later slots, iterations may repeat.

    Options: of=METHOD (multitree by default), of=METHOD,OPTION=VALUE or of=FILE.json names the schedule; it is returned unchanged
    when nothing is faster. from=paced: the transfers of any schedule in fine slots, each as soon as its data are there and its
    links are free, as in a paced run, but without contention; the schedule itself where its slots are not slower. Where that is
    faster, messages wait at routers for as long as first come, first served requires. Lanes keep such waits; routers that take
    turns flit by flit do not. With waits=senders messages always wait where they leave.
    """
    source = _source(request, options["of"])
    if options["from"] == "paced":
        alone = replace(request, monitor=request.monitor.watching())
        if source.has_fine_slots:
            return source
        program = program_of(source)
        fine = in_fine_slots(alone, [(f"transfers of {options['of']}", program)], "retime", options)
        if options["waits"] == "routers":
            waiting = with_planned_waits(request, in_pieces(request, program)[0], request.cycles(fine))
            fine = fine if waiting is None else replace(waiting, provenance=fine.provenance)
        return fine if request.rank(fine) < request.rank(source) else source

    def provenance(origin: Mapping[str, Any]) -> Mapping[str, Any]:
        return request.provenance("retime", options, **origin)

    request.offer(source)
    best = Search(request, provenance).run([Trees.built(family_of(source))])
    return best if request.rank(best) < request.rank(source) else source


def _source(request: Request, text: str) -> Schedule:
    others = [other for other in METHODS if other != "auto"]
    name, *given = text.split(",")
    if name in others:
        pairs = [one.partition("=") for one in given]
        if not all(key and equals for key, equals, _ in pairs):
            raise InputError(f"retime: option of={text!r}: expected METHOD, or METHOD,OPTION=VALUE")
        return written_out(METHODS[name](replace(request, options={key: value for key, _, value in pairs}, steps=None)))
    if not text.endswith((".json", ".json.gz", ".npz")):
        raise UnsupportedError(
            f"retime: option of={text!r}; allowed: {', '.join(others)}, or a schedule file (.json, .json.gz, .npz)"
        )
    schedule = _RETIMED.lowered(load_any_schedule(Path(text)))
    if not schedule.topology.is_network_of(request.topology) or schedule.collective != request.collective:
        raise UnsupportedError(f"retime: {text} is a schedule for another topology or collective")
    if request.chunks not in (None, schedule.chunks):
        raise UnsupportedError(f"retime: {text} has {schedule.chunks} chunks; {request.chunks} were asked for")
    return schedule
