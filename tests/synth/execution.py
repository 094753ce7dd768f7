"""An independent check of schedules: execute them with integers, and compare only the results."""

from collections import Counter

from certree.models.machine.machine import load_machine
from certree.models.machine.speeds import with_speeds_of
from certree.models.network.spec import parse_topology
from certree.models.network.topology import Topology
from certree.models.schedule.collective import CollectiveKind, parse_collective
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op
from certree.synth.bounds.find import find_bounds
from certree.synth.method import Request, load_methods
from certree.verify.certificates.certificate import make_certificate
from certree.verify.certificates.quality import Quality
from certree.verify.checker import verify_schedule


def ask(
    topology: str | Topology,
    collective: str = "all-reduce",
    message_bytes: int = 1 << 20,
    *,
    root: int | None = None,
    **fields: object,
) -> Request:
    """A request, of 1 MiB unless said otherwise, on the preset machine."""
    network = parse_topology(topology) if isinstance(topology, str) else topology
    machine = with_speeds_of(network, load_machine("multitree"))
    return Request(network, parse_collective(collective, root), message_bytes, machine, **fields)  # type: ignore[arg-type]


def execute(schedule: Schedule) -> None:
    """Run one iteration round by round, delay 1, adding up powers of 5: a sum tells who counted how often (up to 4 times).

    Asserts link capacity in every step, and the promised sums at the end.
    """
    topology, kind = schedule.topology, schedule.collective.kind
    ends = topology.endpoints.tolist()
    own = {node: 5**rank for rank, node in enumerate(ends)}
    total = sum(own.values())
    held = {
        (node, chunk): own[node] if schedule.collective.reduces or root == node else 0
        for chunk, root in enumerate(schedule.chunk_root.tolist())
        for node in ends
    }
    capacity = dict(
        zip(zip(topology.pair_src.tolist(), topology.pair_dst.tolist(), strict=True), topology.pair_capacity.tolist(), strict=True)
    )
    rows = list(zip(*(getattr(schedule, name).tolist() for name in ("step", "chunk", "op", "src", "dst")), strict=True))
    for step in range(schedule.steps):
        now = [row for row in rows if row[0] == step]
        use = Counter((src, dst) for *_, src, dst in now)
        assert all(use[pair] <= capacity[pair] for pair in use), f"step {step}"
        before = dict(held)
        for _, chunk, op, src, dst in now:
            held[dst, chunk] = before[src, chunk] + (held[dst, chunk] if op == Op.REDUCE else 0)
    for chunk, root in enumerate(schedule.chunk_root.tolist()):
        due = [root] if kind is CollectiveKind.REDUCE_SCATTER else ends
        wanted = own[root] if kind is CollectiveKind.ALL_GATHER else total
        assert [held[node, chunk] for node in due] == [wanted] * len(due), f"chunk {chunk}"


def make(method: str, topology: str | Topology, collective: str = "all-reduce", **fields: object) -> Schedule:
    """What a method makes of such a request."""
    return load_methods()[method](ask(topology, collective, **fields))


def valid(method: str, topology: str | Topology, collective: str = "all-reduce", **fields: object) -> Schedule:
    """A schedule as by `make`, once the verifier has found no fault."""
    made = make(method, topology, collective, **fields)
    verdict = verify_schedule(made)
    assert verdict.valid, verdict.violations
    return made


def certified(schedule: Schedule) -> Quality:
    """What the verifier makes of a schedule with all bounds that are found for it; valid."""
    bounds = find_bounds(schedule.topology.exact, schedule.collective, schedule.delay)
    verdict = verify_schedule(schedule.with_certificate(make_certificate(schedule, bounds)))
    assert verdict.valid, verdict.violations
    assert verdict.quality is not None
    return verdict.quality


def rounds_of(schedule: Schedule) -> int:
    """Rounds of all steps."""
    return int(schedule.rounds.sum())
