"""Three hundred drawn runs with endpoints: forms of schedules on 17 networks, sizes, endpoints, packets and skews of clocks; and as
many on drawn networks, cut into chunks."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from functools import partial
from random import Random

import pytest

import certree.api as ct
from certree.extras.endpoints.model.endpoint import Endpoint
from certree.extras.endpoints.run.endpoint_program import Choices, Payload
from certree.extras.endpoints.run.endpoint_run import run_endpoints
from certree.extras.endpoints.run.tables.table_endpoints import TableEndpoints
from certree.extras.endpoints.run.tables.table_runs import endpoint_of_runs, run_with_endpoints
from certree.hw.engines.runs import Options, Run
from certree.hw.run import run
from certree.hw.tables.lowering import lower
from certree.models.machine.clocks import parse_clocks
from certree.models.schedule.symmetric.symmetric_schedule import written_out
from certree.models.schedule.timing import ceil_div
from certree.models.tables.tables import Tables
from certree.verify.order.agreement import race_of_tables
from tests.drawn import examples, given_at_least
from tests.extras.endpoints.run.tables_drawn import ACE, Alike, alike, or_refused
from tests.hw.made import MULTITREE
from tests.verify.schedules import random_network

GIGA = 10**9
SYMMETRIC = ("all-reduce", "all-gather", "reduce-scatter")
#: form, methods, networks, collectives
FORMS = {
    "trees": (("multitree", "ring"), ("mesh:2x3", "torus:3x3", "full:4", "ring:5"), SYMMETRIC),
    "routes": (("multitree",), ("fattree:2x2", "fattree:2x3", "switch:4"), SYMMETRIC),
    "half speed": (("multitree",), ("mesh:2x2,link-capacity=0-1:1/2", "mesh:2x2,link-capacity=0-1:2"), SYMMETRIC),
    "repeats": (("retime",), ("mesh:2x2", "torus:3x3"), ("all-reduce",)),
    "rounds": (("halving-doubling",), ("ring:4", "mesh:2x2"), ("all-reduce",)),
    "sums that meet": (("recursive-doubling",), ("hypercube:2", "hypercube:3"), ("all-reduce",)),
    "used again": (("ring-2d",), ("torus:3x3", "mesh:2x3"), ("all-reduce",)),
    "in dimensions": (("hierarchical",), ("ace-torus:2x2x2", "mesh:2x2x2", "torus:3x3"), ("all-reduce",)),
    "blocks": (("flows",), ("mesh:2x2", "ring:4", "fattree:2x2"), ("all-to-all",)),
    "blocks in dimensions": (("hierarchical-all-to-all",), ("ace-torus:2x2x2", "torus:3x3"), ("all-to-all",)),
    "one root": (("binomial",), ("mesh:2x3", "full:5"), ("broadcast", "reduce")),
    "blocks of a root": (("flows",), ("mesh:2x2", "ring:4"), ("gather", "scatter")),
    "members": (("ring",), ("mesh:2x3", "torus:3x3"), ("all-reduce", "all-gather")),
    "demand": (("flows",), ("ring:4", "mesh:2x2"), ("alltoallv",)),
    "buffers": (("one-shot",), ("ring:4", "mesh:2x2"), ("all-reduce",)),
    "fine slots": (("two-shot",), ("mesh:2x2", "ring:3"), ("all-reduce",)),
    "fine slots, buffers": (("partial-sums",), ("ring:4", "ring:3"), ("all-reduce",)),
}


def drawn_tables(form: str, random: Random) -> Tables:
    """Tables of a form, for a size between 16 bytes and 32 KiB."""
    methods, networks, collectives = FORMS[form]
    network, kind, size = random.choice(networks), random.choice(collectives), random.randrange(16, 1 << random.randrange(5, 16))
    topology = ct.topology(network)
    root = 0 if kind in ("broadcast", "reduce", "gather", "scatter") else None
    members = (0, 1, 5) if form == "members" else None
    demand = None
    if kind == "alltoallv":
        nodes = range(len(topology.endpoints))
        demand = ct.demand([[random.randrange(0, 900) * (a != b) for b in nodes] for a in nodes], network)
    collective = ct.collective(kind, root=root, members=members, demand=demand)
    size = {"repeats": 1 << 15}.get(form, size) if demand is None else demand.granules * 16
    made = ct.synthesize(topology, collective, method=random.choice(methods), size=size, machine=MULTITREE)
    return lower(written_out(made), size, MULTITREE)


def drawn_endpoint(random: Random) -> Endpoint:
    """Slow and fast buses, and engines of few and many units."""
    buses = replace(
        ACE.buses, interface_bytes_per_second=Fraction(random.randrange(2, 600) * GIGA),
        memory_bytes_per_second=Fraction(random.randrange(2, 1200) * GIGA), latency_cycles=random.randrange(60),
        overhead_cycles=random.randrange(20), gap_cycles=random.randrange(20),
    )  # fmt: skip
    few = {"state_machines": random.choice([2, 16]), "banks": random.choice([1, 4]), "alus": random.choice([1, 4])}
    return replace(ACE, buses=buses, engine=replace(ACE.engine, **few))


def check(number: int) -> str | None:
    """A run of each system on lanes and through routers; the form, None where some system refuses.

    Without endpoints the cycles of `simulate` on its fast engine are those of lanes flit by flit, and in slots the closed form.
    """
    random = Random(number)
    form = list(FORMS)[number % len(FORMS)]
    tables, endpoint, mode = drawn_tables(form, random), drawn_endpoint(random), random.choice(["paced", "slotted"])
    framing, skew = random.choice(["message", "packet"]), random.choice([None, "0=40,1=7"])
    clocks = None if skew is None else parse_clocks(len(tables.topology.kind), skew, None)
    right = race_of_tables(tables) is None
    if right or mode == "slotted":
        flit_by_flit = run(tables, Options(mode, "lanes", without_routers=True, at_any_timing=right))
        none = ct.simulate(tables, run=mode, engine="fast", without_routers=True, endpoint="none", allow_late=True)
        assert none.cycles == flit_by_flit.cycles, (number, form)
        assert mode == "paced" or none.cycles == none.closed_form_cycles, (number, form)
    for engine in ("fast", "flit"):
        options = Options(mode, engine, without_routers=engine == "fast", framing=framing, clocks=clocks, at_any_timing=True)

        def of(system: str, options: Options = options) -> Run | None:
            model = TableEndpoints(endpoint, endpoint.system(system))
            return or_refused(partial(run, tables, replace(options, endpoint=model)))

        others = [of(system.name) for system in endpoint.systems]
        if None in others:
            return None
        best = run_with_endpoints(tables, replace(options, endpoint=endpoint_of_runs("ideal", endpoint)))
        for other in (best, *(other for other in others if other is not None)):
            assert other.data_ok, (number, form, engine)
            assert other.endpoint is not None
            assert best.cycles <= other.cycles, (number, form, engine, other.endpoint.system)
            assert other.cycles >= other.endpoint.counts["bound_cycles"], (number, form, engine, other.endpoint.system)
        if engine == "fast":
            lanes = of("ace", replace(options, engine="lanes"))
            assert lanes is not None
            assert replace(lanes, engine="fast") == others[2], (number, form)
    return form


def forms_of(numbers: range) -> Counter[str]:
    """How many cases of each form ran."""
    return Counter(form for number in numbers if (form := check(number)) is not None)


def test_a_case_of_every_other_form() -> None:
    """All data are right, `ideal` is the fastest, and no run is shorter than its bound."""
    assert forms_of(range(0, len(FORMS), 2)).keys() >= {*list(FORMS)[::2]} - {"repeats"}


def test_lanes_flit_by_flit_keep_orders_too() -> None:
    """Routers would add something to this run: engine "lanes" leaves them out also where `ideal` keeps the order of another."""
    buses = replace(
        ACE.buses, interface_bytes_per_second=Fraction(245 * GIGA), memory_bytes_per_second=Fraction(854 * GIGA), latency_cycles=3,
        overhead_cycles=5, gap_cycles=16,
    )  # fmt: skip
    endpoint = replace(ACE, buses=buses, engine=replace(ACE.engine, banks=1, alus=4))
    tables = lower(written_out(ct.synthesize("mesh:2x4", method="cps", size=7478, machine=MULTITREE)), 7478, MULTITREE)
    found = {}
    for engine in ("lanes", "fast"):
        options = Options("paced", engine, without_routers=engine == "fast", at_any_timing=True)
        found[engine] = [
            run_with_endpoints(tables, replace(options, endpoint=endpoint_of_runs(system.name, endpoint))).cycles
            for system in endpoint.systems
        ]
    assert found["lanes"] == found["fast"]
    assert endpoint.systems[-1].name == "ideal"
    assert found["lanes"][-1] == min(found["lanes"])


def test_three_hundred_cases() -> None:
    ran = forms_of(range(300))
    assert ran.total() >= 270
    assert ran.keys() == FORMS.keys()


def check_random(number: int) -> int | None:
    """Drawn tables on a drawn network, cut into drawn chunks: on lanes and through routers data are right, `ideal` is the fastest,
    no run is shorter than its bound, and without endpoints the fast engine is the flit by flit one. How many chunks; None where a
    system refuses."""
    random = Random(number)
    topology, size = random_network(random), random.randrange(64, 1 << random.randrange(8, 16))
    kind, method = random.choice(
        [("all-reduce", "multitree"), ("all-gather", "multitree"), ("reduce-scatter", "multitree"), ("all-to-all", "flows"),
         ("gather", "flows"), ("all-reduce", "packing")]
    )  # fmt: skip
    collective = ct.collective(kind, root=int(topology.endpoints[0]) if kind == "gather" else None)
    made = written_out(ct.synthesize(topology, collective, method=method, size=size, machine=MULTITREE))
    tables, endpoint = lower(made, size, MULTITREE), drawn_endpoint(random)
    parts, done = random.randrange(1, 6), []
    if race_of_tables(tables) is None:
        plain = Options("paced", "fast", without_routers=True, at_any_timing=True)
        assert run(tables, plain).cycles == run(tables, replace(plain, engine="lanes")).cycles, number
    chunk = max(ceil_div(size, parts), made.message_chunks * MULTITREE.flit_bytes)
    for engine in ("fast", "flit"):
        options = Options("paced", engine, without_routers=engine == "fast", at_any_timing=True)

        def of(system: str, options: Options = options) -> Run | None:
            named = f"{system}:chunk={chunk}"
            return or_refused(partial(run_with_endpoints, tables, replace(options, endpoint=endpoint_of_runs(named, endpoint))))

        found = [of(system.name) for system in endpoint.systems]
        others = [one for one in found if one is not None]
        if len(others) < len(found):
            return None
        assert others[-1].endpoint is not None
        assert others[-1].endpoint.system.startswith("ideal")
        for other in others:
            assert other.data_ok, (number, engine)
            assert other.endpoint is not None
            assert others[-1].cycles <= other.cycles, (number, engine, other.endpoint.system)
            assert other.cycles >= other.endpoint.counts["bound_cycles"], (number, engine, other.endpoint.system)
        done.append(others[-1].endpoint.counts["iterations"])
    return min(done)


def test_a_few_on_random_networks() -> None:
    assert all(check_random(number) for number in range(3))


def test_three_hundred_on_random_networks() -> None:
    chunks = [check_random(number) or 0 for number in range(300)]
    assert all(chunks)
    assert sum(one > 1 for one in chunks) >= 200


@pytest.mark.parametrize("system", ["baseline", "ace", "ideal"])
def test_a_hundred_runs_are_those_of_messages(system: str) -> None:
    """To the cycle, where both programs express the run."""

    @given_at_least(100, alike())
    @examples(334)
    def each(case: Alike) -> bool:
        old = run_endpoints(case.schedule, case.endpoint, case.endpoint.system(system), [Payload(case.size)], Choices())
        options = Options(
            "paced", "fast", without_routers=True, endpoint=endpoint_of_runs(system, case.endpoint), at_any_timing=True
        )
        new = run(case.tables, options)
        assert (new.cycles, new.data_ok) == (old.cycles, True)
        return True

    each()
