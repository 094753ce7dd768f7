"""Training: iterations of a workload on a network, with collectives that overlap with computing."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from certree.api import parsing
from certree.api.parsing import Network
from certree.api.settings import Tell, machine_for, silent
from certree.extras.endpoints.model.endpoint import Endpoint, load_endpoint
from certree.extras.endpoints.run.endpoint_runs import PROGRAMS
from certree.extras.training.model.accelerators.reading import parse_accelerator
from certree.extras.training.model.placement import Groups, placements
from certree.extras.training.model.queue import Order
from certree.extras.training.model.workload import Workload
from certree.extras.training.model.workload_file import load_workload
from certree.extras.training.run.joint_lists import require_list
from certree.extras.training.run.runs import TrainingRun, on_one_program, run_settings
from certree.extras.training.run.settings import TIMINGS, Settings, Speeds, Timing, parse_factor, parse_group, parse_methods
from certree.extras.training.run.timers import Known
from certree.extras.training.run.what_if import alternatives, parse_changes
from certree.models.common.errors import InputError, unknown_name
from certree.models.machine.machine import Machine
from certree.models.network.topology import Topology
from certree.models.schedule.timing import FRAMINGS


def train(
    workload: str | Path | Workload,
    network: Network,
    *,
    groups: Mapping[str, Network | Sequence[int] | Sequence[Sequence[int]]] | None = None,
    accelerator: str | Sequence[str] | Mapping[str, str] | None = None,
    method: str | Sequence[str] = (),
    timing: str = "closed-form",
    flow: str = "message",
    without_routers: bool = False,
    system: str = "ace",
    endpoint: str | Path | Endpoint = "ace",
    program: str = "auto",
    machine: str | Path | Machine | None = None,
    iterations: int = 2,
    order: str = "fifo",
    pieces: int = 1,
    shared: bool = False,
    joint: bool = False,
    overlap: bool = True,
    compute: str | float | Fraction = 1,
    what_if: Sequence[str] = (),
    listed: bool = False,
    progress: Tell = silent,
) -> TrainingRun:
    """Time iterations of a workload on a network: compute, exposed communication by layer, collectives.

    Times are in seconds, and exact without `joint`. Collectives of a group are served one at a time; on endpoints those of a
    data-parallel loop run together. What cannot be paced is simulated in slots.

    Parameters
    ----------
    workload : str, path or Workload
        A name, a file or a formula (`certree.extras.training.model.workload_file.load_workload`).
    network : str, path or Topology
        As in `synthesize`.
    groups : dict, optional
        The network of a group of nodes, where it is not the whole one, or its endpoints there, such as "0,2,4-7", or "0-3;4-7" for
        all groups of ranks. Groups have links of their own. A transformer whose tensor · data · stages is the number of endpoints
        is placed in that order.
    accelerator : str, sequence or dict, optional
        A name such as "h100" (`certree list` has all), texts such as "efficiency=0.6", or both, for workloads that state shapes or
        a transformer.
    method : str or sequence of str
        "ring", or for a kind of collective "all-to-all=ring-all-to-all"; by default `auto`, and with endpoints ACE's.
    timing : {"closed-form", "slotted", "paced", "endpoints", "aggregate"}
        What times are taken from: "slotted" and "paced" are simulated, "endpoints" with the `system` of `endpoint`, "aggregate"
        added in switches.
    flow : {"message", "packet"}
        The framing of simulated messages.
    without_routers : bool
        As in `simulate`.
    system, endpoint
        The system and the parameters of endpoints.
    program : {"auto", "tables", "messages"}
        What runs on endpoints: tables on the joint machine, messages, or tables where the run and all its changes have them and
        none takes long (`no_tables` of the run says why not), on lanes where they take long through routers (`no_routers`).
    machine
        As in `synthesize`.
    iterations : int
        How many iterations run.
    order : {"fifo", "lifo"}
        The order in which collectives are served.
    pieces : int
        Into how many pieces each collective is cut.
    shared : bool
        Whether collectives of all groups take turns, as if every group used all links; without it, as if none used a link of
        another.
    joint : bool
        Whether all groups of ranks run at once, by joint schedules (`ct.joint`) in which members alone relay; with `shared` those
        of one kind of groups, and the kinds take turns. Without `shared` the run says in `estimate` whether kinds were in progress
        together that did not start together, whose times are an estimate.
    overlap : bool
        False: one collective of all gradients behind each iteration.
    compute : str, float or Fraction
        How many times as fast the accelerator is.
    what_if : sequence of str
        Changes, each timed by itself, such as "method=ring", "method=each" or "bandwidth=2"
        (`certree.extras.training.run.what_if`).
    listed : bool
        Whether what has no `joint_list` is refused before any work.
    progress : callable
        Receives lines of progress.

    Returns
    -------
    TrainingRun

    Raises
    ------
    InputError
        For anything malformed.
    UnsupportedError
        For a combination that has no times.

    Examples
    --------
    >>> import certree.api as ct
    >>> ct.train("astra-resnet50", "torus:4x4", method="multitree")
    <TrainingRun astra-resnet50 on torus:4x4: ms 6.258, exposed 82.7 %>
    """
    topology = parsing.topology(network)
    chosen = endpoint if isinstance(endpoint, Endpoint) else load_endpoint(str(endpoint))
    stated = ("timing", timing, TIMINGS), ("order", order, list(Order)), ("flow", flow, FRAMINGS), ("program", program, PROGRAMS)
    for what, name, allowed in stated:
        if name not in allowed:
            raise InputError(unknown_name(what, name, allowed))
    found = workload if isinstance(workload, Workload) else load_workload(str(workload), parse_accelerator(accelerator))
    settings = Settings(
        workload=found,
        topology=topology,
        machine=machine_for(topology, machine, progress),
        groups=_placed(found, topology) | {group: parse_group(one) for group, one in (groups or {}).items()},
        methods=parse_methods([method] if isinstance(method, str) else list(method)),
        timing=Timing(timing),
        flow=flow,
        without_routers=without_routers,
        endpoint=chosen,
        system=chosen.system(system).name,
        program=program,
        iterations=iterations,
        order=Order(order),
        pieces=pieces,
        shared=shared,
        joint=joint,
        overlap=overlap,
        speeds=Speeds(compute=parse_factor(compute, "compute")),
    )
    changes = [change for text in what_if for change in parse_changes(text, settings)]  # an unknown one is an error before any work
    if program != PROGRAMS[0] and all(one.timing is not Timing.ENDPOINTS for one in (settings, *(one.settings for one in changes))):
        raise InputError(f"program {program} is for timing endpoints, not {timing}")
    if any(one.timing is Timing.ENDPOINTS and one.may_meet for one in (settings, *(change.settings for change in changes))):
        settings = replace(settings, together=True)
        changes = [replace(change, settings=replace(change.settings, together=True)) for change in changes]
    if listed:
        require_list(settings)
    known = Known()

    def ran(chosen: str) -> TrainingRun:
        run = run_settings(replace(settings, program=chosen), known, progress)
        changed = [replace(change, settings=replace(change.settings, program=chosen)) for change in changes]
        return replace(run, alternatives=alternatives(run, changed, known, progress))

    return _told(*on_one_program(settings, ran))


def _told(run: TrainingRun, no_tables: str | None, no_routers: str | None) -> TrainingRun:
    """The run with the reason for lanes or messages: its own, or where it has no endpoints that of its changes which have."""
    if run.program is not None:
        return replace(run, no_tables=no_tables, no_routers=no_routers)
    told = (one if one.program is None else replace(one, no_tables=no_tables, no_routers=no_routers) for one in run.alternatives)
    return replace(run, alternatives=tuple(told))


def _placed(workload: Workload, topology: Topology) -> dict[str, Topology | Groups]:
    """The endpoints of groups that state fewer ranks than there are endpoints, where their product is the number of endpoints."""
    ends = topology.endpoints.tolist()
    return {name: groups for name, groups in placements(workload, ends).items() if len(groups[0]) < len(ends)}
