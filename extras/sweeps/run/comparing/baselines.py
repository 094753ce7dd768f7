"""Baselines of comparisons: schedules that run today, from a file or by name."""

from collections.abc import Sequence
from pathlib import Path

from certree.api.artefacts import Asked, opened_kind
from certree.extras.clusters.running.known import KNOWN, boxes
from certree.extras.costs.model.cost_model import COST_PARAMETERS, load_parameters
from certree.extras.costs.model.counting import count
from certree.models.common.errors import InputError, UnsupportedError
from certree.models.machine.machine import Machine
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule, written_out
from certree.models.tables.tables import Tables
from certree.synth.method import Request

Baseline = str | Path
RINGS, PROTOCOLS = "nccl-ring", ("ll", "ll128", "simple")


def listed(baseline: Baseline | Sequence[Baseline] | None) -> list[str]:
    """Files and names, as texts; InputError for what is neither."""
    given = [] if baseline is None else [baseline] if isinstance(baseline, (str, Path)) else list(baseline)
    for one in map(str, given):
        if not Path(one).suffix and ":" not in one and not Path(one).exists():
            KNOWN[one]  # an unknown name is an error before any work
    return [str(one) for one in given]


def schedule_of(baseline: str, request: Request) -> AnySchedule | str:
    """The schedule of a baseline, or why it is not applicable; InputError where it is for another network or collective."""
    topology, collective = request.topology, request.collective
    try:
        if baseline in KNOWN and not Path(baseline).exists():
            named: AnySchedule = KNOWN[baseline](request)
            return named
        opened, kind = opened_kind(baseline)
        asked = Asked(topology=topology, collective=collective, size=request.message_bytes, machine=request.machine)
        found = kind.schedule(opened, kind.applicable(asked))
    except UnsupportedError as error:
        return str(error)
    made: AnySchedule = found.schedule if isinstance(found, Tables) else found
    if (made.topology.digest, made.collective) != (topology.digest, collective):
        of = f"{made.collective.words} on {made.topology.name}"
        raise InputError(f"{baseline} has {of}; compared is {collective.words} on {topology.name}")
    return made


def seconds_of_nccl(baseline: str, made: AnySchedule, size: int, machine: Machine) -> dict[str, str]:
    """The prediction of NCCL's tuning model for its rings in one box: the seconds of the fastest protocol, exact, and which one it
    is. Nothing for other baselines, several boxes, and machines whose numbers the model does not have."""
    named = {protocol: f"nccl-{machine.name.split()[0]}-{protocol}" for protocol in PROTOCOLS}
    if baseline != RINGS or boxes(made.topology) > 1 or not all(name in COST_PARAMETERS.names() for name in named.values()):
        return {}
    counts = count(written_out(made))
    times = {protocol: load_parameters(name).cost(counts, size).seconds for protocol, name in named.items()}
    best = min(times, key=times.__getitem__)
    return {"nccl_seconds": str(times[best]), "nccl_protocol": best}
