"""Draws of networks with exact link rates: no schedule, in whatever unit, is better than a bound of the network that was described.

Networks have the rates of PCIe, NVLink and network interfaces, odd decimals, several lanes, parallel links and links in one
direction; they are built, or read back from JSON (with a modifier, too) or GraphML. Some are of families, with whole capacities,
which other units may not divide. A draw has one network, one collective, one size and one unit, and a few methods. Bounds are
searched once, for the network (`ct.bound`), and compared with the schedules of all methods, as in `bounded`. Where the class allows
it, the bounds that `verify` prints have to be the same. Schedules are saved and read back, and tables exported: all have to be
verified and to take the cycles of the closed form on engines `fast` and `lanes`, and through routers where these add nothing.
`python -m tests.end_to_end.draws.exact_rates FIRST COUNT` makes the draws with seeds from FIRST on, and prints what was compared.
"""

import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import numpy as np

import certree.api as ct
from certree.api.evidence import certified_or_fail
from certree.api.reports.schedule_report import closed_form
from certree.extras.clusters.imports.box import Cable, units_of
from certree.hw.engines.runs import Options
from certree.hw.run import run
from certree.models.common.errors import InputError, TopologyError, UndecidedError, UnsupportedError
from certree.models.network.capacities import in_units
from certree.models.network.rates import Rates
from certree.models.network.spec import parse_topology
from certree.models.network.topology import MAX_EXACT, Topology
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule, written_out
from certree.synth.method import Request, load_methods
from certree.synth.units import UNIT
from certree.verify.bounds.instance import Instance
from certree.verify.verdict import Verdict
from tests.end_to_end.draws.bounded import Claim, below, claims, report, values
from tests.end_to_end.draws.every_method import (
    LONG_METHODS,
    Case,
    drawn_collective,
    drawn_columns,
    drawn_links,
    drawn_options,
    machine_drawn_for,
)

GIGA = 10**9
LANE = {speed: Fraction(speed * 128 * GIGA, 130 * 8) for speed in (8, 16, 32)}  # PCIe, GT/s: bytes per second of a lane
PCIE = tuple(lane * lanes for lane in LANE.values() for lanes in (4, 8, 16))
NVLINK = tuple(Fraction(25 * GIGA) * lanes for lanes in (1, 1, 2, 3))
PORTS = (Fraction(25 * GIGA, 2), Fraction(25 * GIGA), Fraction(50 * GIGA))
ODD = tuple(Fraction(text) * GIGA for text in ("19.2", "12.1", "26.562", "20.8", "7.31", "0.9"))
CHOICES = (PCIE, NVLINK + PCIE[6:8], NVLINK + PORTS + ODD[:1], ODD, PCIE + NVLINK + PORTS + ODD)
PARTS = (Fraction(1), Fraction(1), Fraction(9, 10), Fraction(2, 3), Fraction(5, 7), Fraction(1, 2), Fraction(1, 3), Fraction(2, 7))
MOST_FLIT_HOPS = 100_000  # of runs through routers
MOST_UNITS = 9  # of a full link, in the units that are drawn
SIZES = (1, 64, 1000, 1 << 16, 1 << 20)
FORMS = ("built", "box.json", "box.graphml", "modified", "family")
FAMILIES = (
    "ring:4",
    "ring:5",
    "mesh:2x3",
    "torus:3x3",
    "hypercube:3",
    "full:4",
    "switch:4",
    "fattree:2x2",
    "tree:2+3",
    "ring:4,capacity=3",
)
METHODS_EACH = 3
KINDS = (*CollectiveKind,)


@dataclass(frozen=True)
class Draw:
    """A network in the units with which it was made, and requests to methods, most of them in another unit."""

    seed: int
    form: str
    topology: Topology
    cases: tuple[Case, ...]

    @cached_property
    def bounds(self) -> ct.Bounds:
        """The bounds of the network, the same for all schedules."""
        request = self.cases[0].request
        return ct.bound(self.topology, request.collective, size=request.message_bytes, machine=request.machine)

    @cached_property
    def claims(self) -> list[Claim]:
        """They and the time bounds, each with its value."""
        return claims((*self.bounds.bounds, *self.bounds.time_bounds), self.bounds.topology.exact.scale, is_own=False)


def drawn(seed: int, folder: Path) -> Draw:
    """The draw of a seed; files are written to an empty folder."""
    rng = Random(seed)
    form = rng.choice(FORMS)
    topology = parse_topology(rng.choice(FAMILIES)) if form == "family" else drawn_network(rng)
    if form not in ("built", "family"):
        topology = _read_back(topology, form, folder, rng)
    machine, kind = machine_drawn_for(topology, rng), KINDS[seed % len(KINDS)]
    request = Request(topology, drawn_collective(topology, kind, rng), rng.choice(SIZES), machine, seed=rng.randrange(3))
    unit = {} if rng.random() < 0.2 else {UNIT: drawn_unit(topology, rng)}
    known = [load_methods()[name] for name in sorted(load_methods()) if kind in load_methods()[name].collectives]
    first, cases = seed // len(KINDS) * METHODS_EACH, []
    for method in [known[(first + place) % len(known)] for place in range(min(METHODS_EACH, len(known)))]:
        if rng.random() < max(0.2, LONG_METHODS.get(method.name, 1)):
            options = drawn_options(method, request, rng) if rng.random() < 0.5 else {}
            cases.append(Case(seed, method.name, replace(request, options=options | unit)))
    return Draw(seed, form, topology, tuple(cases))


def drawn_network(rng: Random) -> Topology:
    """A network of exact rates, in the units of an import or in others."""
    while True:
        try:
            return _drawn_network(rng)
        except TopologyError:  # endpoints that cannot reach each other, or rates without a common measure
            continue


def _drawn_network(rng: Random) -> Topology:
    ends, switches, links = drawn_links(rng, CHOICES)
    full, unit = units_of([Cable(*link) for link in links], None)
    rates = [rate for _, _, rate in links]
    if rng.random() < 0.5:
        full = int(max(1, rng.choice((min(rates), max(rates), Fraction(25 * GIGA)))))
        unit = min(Fraction(full), *rates) / rng.choice((1, 1, 2))
    if rng.random() < 0.1:  # exact rates that are whole multiples
        rates = [Fraction(full * max(1, round(rate / full))) for rate in rates]
        unit = min(unit, Fraction(full))
    capacity, scale = in_units([rate / full for rate in rates], "drawn", MAX_EXACT)
    return Topology(
        name="drawn",
        src=np.array([src for src, _, _ in links], np.int32),
        dst=np.array([dst for _, dst, _ in links], np.int32),
        capacity=np.array(capacity, np.int32),
        bandwidth=full if rng.random() < 0.8 else None,
        scale=scale,
        rates=Rates(np.array(capacity, np.int64), scale),
        **drawn_columns(rng, ends, switches, len(links)),
    ).in_units_of(unit / full)


def drawn_unit(topology: Topology, rng: Random) -> str:
    """A unit as typed: a part of a full link, or a bandwidth where the network states that of a full link."""
    exact = topology.exact
    slowest = min(Fraction(1), exact.speed(int(exact.capacity.min())))
    units = [slowest * part for part in PARTS if slowest * part * MOST_UNITS >= 1]
    unit = rng.choice(units) if units else slowest
    mega = unit * (topology.bandwidth or 0) // 10**6
    return f"{mega}MB/s" if mega and rng.random() < 0.4 else str(unit)


def _read_back(made: Topology, form: str, folder: Path, rng: Random) -> Topology:
    """The network from a file, without one of its links where that leaves it connected; AssertionError where the file differs."""
    path = folder / ("box.json" if form == "modified" else form)
    ct.save(made, path)
    again = parse_topology(str(path))
    assert _facts(again) == _facts(made), f"{form}: the network is another one when it is read back"
    if not form.endswith("graphml"):
        assert again.digest == made.digest, f"{form}: another digest when it is read back"
    if form != "modified":
        return again
    link = rng.randrange(len(made.src))
    tail, head = int(made.src[link]), int(made.dst[link])
    try:
        changed = parse_topology(f"{path},without-link={tail}>{head}")
    except TopologyError:  # it is no longer connected
        return again
    left = [row for row in _rows(made) if row[:2] != (tail, head)]
    assert (_rows(changed), changed.scale, changed.bandwidth) == (left, made.scale, made.bandwidth), "without-link changes others"
    return changed


def _rows(topology: Topology) -> list[tuple[int, int, Fraction, int, int]]:
    """Ends, exact capacity, units and latency of each link, sorted."""
    speeds = [topology.exact.speed(capacity) for capacity in topology.exact.capacity.tolist()]
    columns = (topology.src.tolist(), topology.dst.tolist(), speeds, topology.capacity.tolist(), topology.latency.tolist())
    return sorted(zip(*columns, strict=True))


def _facts(topology: Topology) -> object:
    """What files keep of a network, GraphML too."""
    return _rows(topology), topology.scale, topology.bandwidth, topology.kind.tolist(), topology.reducing.tolist()


def check(case: Case, draw: Draw, folder: Path, compared: Counter[str]) -> Iterator[str]:
    """The violations of one request; none where the method refuses, or makes the schedule as published and that is invalid."""
    try:
        made = load_methods()[case.method](case.request)
    except (InputError, UndecidedError):
        compared["requests refused"] += 1
        return
    certified, verdict = certified_or_fail(made)
    if not verdict.valid:
        compared["schedules invalid"] += 1
        return
    scale = made.topology.scale
    compared.update(("schedules", f"schedules of {case.method}", f"schedules on a network {draw.form}"))
    compared["schedules with lanes of a fraction"] += isinstance(scale, Fraction)
    compared["schedules in another unit than their network"] += scale != draw.topology.scale
    reached = values(case, made)
    yield from below(made, draw.claims, reached, compared)
    assert certified.certificate is not None
    timed = certified.certificate["time"]
    own = claims((*certified.certificate["bounds"], *timed["bounds"]), made.topology.exact.scale, is_own=True)
    yield from below(made, own, reached, compared)
    yield from one_answer(made, verdict, timed["bound_cycles"], draw.bounds, compared)
    yield from files(case, certified, verdict, folder, compared)


def one_answer(
    schedule: AnySchedule, verdict: Verdict, bound_cycles: int, bounds: ct.Bounds, compared: Counter[str]
) -> Iterator[str]:
    """Bounds that `verify` prints for a schedule and `bound` does not print for its network, though both ask the same."""
    instance, quality = Instance.of(schedule), verdict.quality
    if quality is None or instance.passing or schedule.delay != bounds.delay or not instance.shares_are_equal:
        return
    compared["bounds of verify and bound the same"] += 1
    printed = quality.bandwidth_bound * quality.scale
    if printed != bounds.bandwidth:
        yield f"verify prints a bandwidth bound of {printed} M/B, bound {bounds.bandwidth} M/B"
    if quality.latency_bound not in (None, bounds.latency):
        yield f"verify prints a bound of {quality.latency_bound} steps, bound {bounds.latency} steps"
    if bound_cycles != bounds.time_cycles:
        yield f"verify prints a bound of {bound_cycles} cycles, bound {bounds.time_cycles} cycles"


def files(case: Case, schedule: AnySchedule, verdict: Verdict, folder: Path, compared: Counter[str]) -> Iterator[str]:
    """What differs after a schedule was saved and read back, and after its tables were: digest, verdict, cycles."""
    suffixes = (".json", ".json.gz", ".npz") if isinstance(schedule, Schedule) else (".json", ".json.gz")
    path = folder / f"{case.method}{Random(schedule.digest).choice(suffixes)}"
    ct.save(schedule, path)
    again = ct.load(path)
    checked = ct.verify(path)  # routers of the machine may refuse what is valid
    if again.digest != schedule.digest or checked != ct.verify(schedule) or checked.quality not in (None, verdict.quality):
        yield f"{path.name}: another schedule or verdict when it is read back"
    compared["schedule files"] += 1
    size, machine = case.request.message_bytes, case.request.machine
    cycles = closed_form(again, size, machine)["time_cycles"]
    try:
        tables = ct.export(written_out(again), "readmemh", folder / case.method)
    except (UnsupportedError, ct.InvalidScheduleError):
        return
    compared["tables"] += 1
    if not ct.verify(folder / case.method).valid:
        yield "the exported tables are invalid"
    for engine in ("lanes", "fast"):
        result = run(tables, Options(engine=engine, without_routers=engine == "fast"))
        if (result.cycles, result.closed_form_cycles, result.late, result.data_ok) != (cycles, cycles, 0, True):
            yield f"closed form of {cycles} cycles, but engine {engine}: {result}"
    if result.flit_hops > MOST_FLIT_HOPS:
        return
    try:
        routed = run(tables, Options(engine="flit"))
    except UnsupportedError:
        return  # planned waits, or more lanes than the model of routers has
    compared["runs through routers"] += 1
    compared["runs through routers that add nothing"] += result.is_exact
    if not routed.data_ok or (result.is_exact and (routed.cycles, routed.late) != (cycles, 0)):
        yield f"closed form of {cycles} cycles, but through routers ({result.router_effect}): {routed}"


def check_draw(seed: int, compared: Counter[str]) -> Iterator[str]:
    """The violations of a draw, each with its request; any error is one."""
    with TemporaryDirectory(prefix="certree-") as name:
        try:
            draw = drawn(seed, Path(name))
        except Exception as error:  # any failure of a draw is a finding
            yield f"seed {seed}\n  {type(error).__name__}: {error}"
            return
        yield from check_all(draw, Path(name), compared)


def check_all(draw: Draw, folder: Path, compared: Counter[str]) -> Iterator[str]:
    """The violations of all requests of a draw."""
    compared["draws"] += 1
    for case in draw.cases:
        try:
            yield from (f"{case.text}\n  {line}" for line in check(case, draw, folder, compared))
        except Exception as error:  # any failure of a draw is a finding
            yield f"{case.text}\n  {type(error).__name__}: {error}"


if __name__ == "__main__":
    sys.exit(report(int(sys.argv[1]), int(sys.argv[2]), check_draw))
