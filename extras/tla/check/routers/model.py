"""Model checks of messages in routers: `specs/SubPacketFlow.tla`, flits, virtual channels and credits, with generated constants.

The messages of a schedule start at any time and in any order, so the answer is about all timings; which of them waits for which is
left out. They fall into groups that share no channel; TLC checks each.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from certree.extras.tla.check.generated import Generated, function, members, sequence, string
from certree.extras.tla.check.model_runs import ModelResult
from certree.extras.tla.check.routers.sent_messages import Sent
from certree.extras.tla.check.routers.waiting_packets import Packet, groups_of, is_small, longest_run, packets_of, places_of
from certree.extras.tla.check.tlc import Result, Simulation, State, TlcRun
from certree.models.machine.machine import Machine

SIMULATION_RUNS = 10
# in place of definitions of the specification, with vc_reuse = "empty": a head must find all credits back, and takes no full one
_WHEN_EMPTY = {"HasRoom": "HasRoomWhenEmpty", "TakeFull": "TakesNoneThatIsFull"}
_OF_EMPTY = (
    "HasRoomWhenEmpty(w, k, h, v) == credits[Route[w][h]][v] >= IF k = 1 THEN Depth ELSE 1",
    "TakesNoneThatIsFull(w, h, v) == FALSE",
)
_INVARIANTS = ("TypeOK", "NoOverflow", "CreditsConserved", "FlitsConserved", "OneVcEach", "FirstHasRoom")


def model_check_routers(sent: Sent, framing: str = "message", time_limit: float = 300.0, seed: int = 0) -> ModelResult:
    """Whether the messages of a schedule can deadlock in the routers of their machine: all states of their flits or, of more flits,
    random runs.

    `framing`: of chunks, "message" or "packet". `mode` is `exhaustive` or `simulation`, which finds deadlocks but proves nothing.
    Of a schedule that repeats, the messages of all iterations. The result is `unknown` when `time_limit` seconds do not suffice.
    Raises UnsupportedError for more flits than TLC can handle, ToolMissingError without Java or TLC.
    """
    packets = packets_of(sent, framing)
    groups = sorted(groups_of(packets), key=places_of)
    runs: list[TlcRun] = []
    for group in groups:
        simulation = None if is_small(group) else Simulation(SIMULATION_RUNS, longest_run(group), seed)
        left = max(1.0, time_limit - sum(run.seconds for run in runs))
        runs.append(_model(group, sent.machine).run(time_limit=left, simulation=simulation))
        if runs[-1].result is not Result.SUCCESS:
            break
    result = runs[-1].result if runs else Result.SUCCESS
    is_exhaustive = all(run.distinct_states is not None for run in runs)
    return ModelResult(
        name=f"messages of {sent.schedule.topology.name} {sent.schedule.collective.kind} in routers",
        expected=Result.SUCCESS,
        result=result,
        distinct_states=sum(run.distinct_states or 0 for run in runs) if is_exhaustive else None,
        total_states=sum(run.total_states for run in runs),
        seconds=sum(run.seconds for run in runs),
        mode="exhaustive" if is_exhaustive else "simulation",
        trace="\n".join(_waits(groups[len(runs) - 1], runs[-1].trace[-1])) if result is Result.DEADLOCK else "",
        message=_message(packets, groups, runs, seed),
        as_expected=result is Result.SUCCESS,
    )


def _model(group: Sequence[Packet], machine: Machine) -> Generated:
    """The model of the packets of a group."""
    named = [(string(packet.name), packet) for packet in group]
    in_turn = [f"/\\ (sent[{name}] > 0 => sent[{string(packet.before)}] > 0)" for name, packet in named if packet.before]
    empties = machine.router.vc_reuse == "empty"
    channels = members(sequence(channel) for channel in sorted({channel for packet in group for channel in packet.channels}))
    return Generated(
        "SubPacketFlow",
        {
            "Route": function((name, sequence(map(sequence, packet.channels))) for name, packet in named),
            "Flits": function((name, sequence(map(string, packet.kinds))) for name, packet in named),
            "MayTake": function((name, sequence(map(members, packet.vcs))) for name, packet in named),
        },
        {
            "Worms": members(name for name, _ in named),
            "VCs": members(sorted({vc for packet in group for vcs in packet.vcs for vc in vcs})),
            "Depth": machine.vc_buffer_flits,
            "Switching": string(machine.router.flow_control),
            "Endless": "{}",
        },
        _INVARIANTS,
        chosen={"Channels": "GivenChannels"} | (_WHEN_EMPTY if empties else {}),
        definitions=(
            f"GivenChannels == {channels}",
            # their interface sends packets of one route one after the other; which message is first makes no difference
            f"InTurns == {' '.join(in_turn) or 'TRUE'}",
            *(_OF_EMPTY if empties else ()),
        ),
        constraint="InTurns" if is_small(group) else "",  # a random run would end where the order is another
    )


def _message(packets: Sequence[Packet], groups: Sequence[Sequence[Packet]], runs: Sequence[TlcRun], seed: int) -> str:
    """The extent of a success, or what was found."""
    shared = sum(map(len, groups))
    if not groups:
        return f"none of {len(packets)} packets waits in a channel for another one that it could hold up"
    if runs[-1].result is Result.DEADLOCK:
        return "packets wait for each other, and nothing can move"
    if runs[-1].result is Result.UNKNOWN:
        return f"no answer in the time limit; {len(runs) - 1} of {len(groups)} groups of packets are done"
    if runs[-1].result is not Result.SUCCESS:
        return runs[-1].broken
    how = "all states" if all(map(is_small, groups)) else f"{SIMULATION_RUNS} random runs, seed {seed}, of groups that are large"
    return f"{how}; {shared} of {len(packets)} packets in {len(groups)} group(s) that share no link, the others hold up nobody"


def _waits(group: Sequence[Packet], state: State) -> Iterator[str]:
    """In the last state of a deadlock: which packet holds which channels, and which it waits for."""
    for packet in group:
        held = [
            hop
            for hop, channel in enumerate(packet.channels)
            if any(worm == packet.name for flits in _buffers(state["buffer"][channel]) for worm, _ in flits)
        ]
        if held:
            first, last = packet.channels[held[-1]], packet.channels[min(held[-1] + 1, len(packet.channels) - 1)]
            yield f"packet {packet.name} is in {_place(first)} and waits for {_place(last)}"


def _place(channel: Sequence[int]) -> str:
    """A channel in words."""
    return f"{channel[0]}>{channel[1]}" + "".join(f" lane {lane}" for lane in channel[2:])


def _buffers(of_vcs: Mapping[int, Any] | Sequence[Any]) -> Iterable[Any]:
    """The flits in each virtual channel; TLC writes a function of 1..n as a sequence."""
    return of_vcs.values() if isinstance(of_vcs, Mapping) else of_vcs
