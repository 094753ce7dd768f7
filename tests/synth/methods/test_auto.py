"""The automatic choice: something for every collective on every network, and the fastest of what it compared."""

import random
from contextlib import suppress
from dataclasses import replace

import pytest

import certree.api as ct
from certree.hw.engines.runs import Options as RunOptions
from certree.hw.run import run
from certree.models.common.errors import UndecidedError, UnsupportedError
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule
from certree.synth import candidate_prices as prices
from certree.synth import method
from certree.synth.bounds.quick import quick_time_bound
from certree.synth.candidate_prices import built_price, price_of
from certree.synth.fine import paced
from certree.synth.method import METHODS, Form, Options, Request, Tier, load_methods
from certree.synth.methods import auto
from certree.synth.methods.optimizing import retime
from certree.synth.packing.selection import BUDGET, Search
from certree.synth.price import FREE, Price
from certree.verify.checker import verify_schedule
from tests.bench.choice import SIZES, SMALL, compare, rivals
from tests.synth.execution import ask, make, valid

ROOTED = {"broadcast": 1, "reduce": 1, "gather": 1, "scatter": 1}
TIERS = {tier: {name for name in load_methods() if METHODS[name].tier is tier} for tier in Tier}
FAR = 10**6  # more cycles than any bound here
COLLECTIVES = ["all-reduce", "reduce-scatter", "all-gather", "all-to-all", *ROOTED]


@pytest.fixture(autouse=True)
def _short_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Searches with a fiftieth of their budget: what auto finds can only be slower."""
    whole = Search.run
    monkeypatch.setattr(Search, "run", lambda search, options: whole(replace(search, budget=BUDGET // 50), options))


@pytest.fixture
def _without_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    """The exact search takes most of the time on the smallest networks; without it auto can only be slower."""
    monkeypatch.setitem(METHODS._entries, "exact", replace(METHODS["exact"], tier=Tier.NAMED))


def test_the_exact_search_is_among_the_candidates() -> None:
    assert "exact" in make("auto", "full:3").provenance["auto"]["considered"]


@pytest.mark.usefixtures("_without_exact")
@pytest.mark.parametrize(
    ("network", "collective"),
    [(network, kind) for network in ("mesh:2x3", "switch:5") for kind in COLLECTIVES]
    + [(network, kind) for network in ("full:4", "bigraph:2x4", "tree:2+3") for kind in ("all-reduce", "all-to-all", "broadcast")],
)
def test_there_is_a_method_for_every_collective(network: str, collective: str) -> None:
    request = ask(network, collective, root=ROOTED.get(collective))
    made = load_methods()["auto"](request)
    assert verify_schedule(made).valid
    told = made.provenance["auto"]
    cycles = {name: int(text.split()[0]) for name, text in told["considered"].items() if text.endswith("cycles")}
    picked = told["why"].split(": ")[0]
    assert picked.split(":")[0] == made.provenance["method"]
    assert cycles[picked] == min(cycles.values()) == request.cycles(made) == request.monitor.best_cycles
    assert f"({cycles[picked]}) of {len(cycles)} schedules" in told["why"]
    if len(cycles) > 1:
        following = told["why"].split("; next ")[1].split(", ")[0]
        assert cycles[following] == min(value for name, value in cycles.items() if name != picked)


@pytest.mark.parametrize("collective", ["all-reduce", "reduce-scatter", "all-gather", "all-to-all"])
def test_packages_whose_nodes_no_route_can_pass(collective: str) -> None:
    valid("auto", "switch-fc:1x2x4x2", collective)


@pytest.mark.usefixtures("_without_exact")
@pytest.mark.parametrize(
    ("network", "collective", "size"),
    [
        ("switch:5", "all-reduce", 1 << 10),
        ("mesh:2x3", "all-gather", 1 << 20),
        ("mesh:2x3", "broadcast", 1 << 30),
        ("switch-fc:1x2x2x2", "all-reduce", 1 << 15),
        ("mesh:3x3,without-node=4", "all-reduce", 1 << 15),
        ("tree:2x3,reducing=switches", "all-reduce", 1 << 26),
    ],
)
def test_nothing_published_is_faster(network: str, collective: str, size: int) -> None:
    """A sample; tests/bench/choice.py goes through all kinds of networks."""
    request = ask(network, collective, size, root=ROOTED.get(collective))
    methods = load_methods()
    picked = request.cycles(methods["auto"](request))
    compared = 0
    for name, options in rivals(request.topology):
        with suppress(UnsupportedError, UndecidedError):
            assert picked <= request.cycles(methods[name](replace(request, options=options))), (name, options)
            compared += 1
    assert compared > 2


@pytest.mark.usefixtures("_without_exact")
@pytest.mark.parametrize("cell", range(12))
def test_nothing_published_is_faster_in_a_drawn_cell(cell: int) -> None:
    """Cells are drawn from all networks, collectives and sizes of tests/bench/choice.py."""
    drawn = random.Random(cell)
    for found in compare(drawn.choice(SMALL), drawn.choice(list(CollectiveKind)), [drawn.choice(SIZES)]):
        assert found.ratio <= 1, found


def test_in_network_reduction_is_among_the_candidates() -> None:
    considered = make("auto", "switch:8,reducing=switches").provenance["auto"]["considered"]
    assert considered["netreduce"].endswith(" cycles")


def test_candidates_are_left_out_by_price(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the budget of work, or with a lower bound above the best; what is left out is named, and the result is valid."""
    monkeypatch.setattr(prices, "CHEAP", 0)
    monkeypatch.setattr(prices, "BUDGET", 2000)
    monkeypatch.setattr(auto, "BUDGET", 2000)
    made = make("auto", "switch:8", "all-gather", message_bytes=1 << 10)
    assert verify_schedule(made).valid
    told = made.provenance["auto"]
    reasons = told["beyond_budget"]
    assert reasons == {name: text for name, text in told["considered"].items() if text.startswith("not built: ")}
    assert told["why"].split(": ")[0] not in reasons
    assert reasons["two-shot"].startswith("not built: work of ")
    assert reasons["two-shot"].endswith(" left of the budget of 2000")
    spread = ct.synthesize("switch:8", collective="all-gather", size=1 << 10, seeds=2)
    assert (spread.digest, spread.provenance["auto"]) == (made.digest, told)


def test_what_may_be_spent_is_in_proportion_to_the_gap() -> None:
    ledger, dear = prices.Ledger(1, 1000, 64), Price(prices.BUDGET // 4)
    assert ledger.refusal(Price(prices.BUDGET * 2), in_slots=True) is None  # there is nothing yet
    ledger.note(FREE, "first", 2000, 1)
    assert ledger.refusal(dear, in_slots=True) is None
    late = replace(dear, cycles=1990)
    assert ledger.refusal(late, in_slots=True) == "not built: takes at least 1990 cycles; first takes 2000"
    assert ledger.refusal(late, in_slots=False) is None
    ledger.note(FREE, "second", 1100, 1)
    assert ledger.left == prices.BUDGET // 5
    assert str(ledger.refusal(dear, in_slots=True)).startswith(f"not built: work of {dear.total} transfers; ")


@pytest.mark.parametrize(("endpoints", "cycles", "is_built"), [(64, 1010, True), (65, 1010, False), (65, 1011, True)])
def test_near_the_bound_among_many_little_work_counts_too(endpoints: int, cycles: int, is_built: bool) -> None:
    """Within 1/100 of the bound, so that at most 1 % is given away."""
    ledger, small = prices.Ledger(1, 1000, endpoints), Price(prices.CHEAP // 2)
    ledger.note(FREE, "first", cycles, 1)
    ledger.spent = ledger.left
    assert (ledger.refusal(small, in_slots=True) is None) == is_built
    assert ledger.refusal(FREE, in_slots=True) is None


@pytest.mark.parametrize(
    ("endpoints", "cycles", "is_built"), [(64, 1010, False), (64, 1011, True), (65, 1250, False), (65, 1251, True)]
)
def test_near_the_bound_work_is_in_proportion_to_that_of_the_best(endpoints: int, cycles: int, is_built: bool) -> None:
    ledger = prices.Ledger(1, 1000, endpoints)
    ledger.note(Price(0), "first", cycles, 10_000)
    most = prices.TIMES * 10_000 + prices.CHEAP // 2
    assert ledger.refusal(Price(most), in_slots=True) is None
    dear = ledger.refusal(Price(most + 1), in_slots=True)
    assert (dear is None) == is_built
    assert is_built or dear == f"not built: work of {most + 1} transfers; first, near the time bound, allows {most}"


def test_candidates_in_order_of_work_and_then_of_bounds() -> None:
    """Beyond the budget: what is not known to be near comes after, and what exceeds the budget alone comes last."""
    request = ask("hyperx:8x8@8", "all-reduce", message_bytes=1 << 26)
    labels = [label for label, *_ in auto.priced_candidates(request, quick_time_bound(request))]
    wanted = ["double-binary-tree", "ring:delay=2", "halving-doubling", "multitree", "direct"]
    assert sorted(wanted, key=labels.index) == wanted


def test_prices_are_lower_bounds_and_exact_in_transfers() -> None:
    for network, collective in (("switch:8", "all-reduce"), ("torus:4x4", "all-gather"), ("full:8", "reduce-scatter")):
        for name in ("ring", "halving-doubling", "cps", "recursive-doubling"):
            request = ask(network, collective, message_bytes=1 << 14)
            if request.collective.kind in METHODS[name].collectives:
                price, made = price_of(name, request), METHODS[name](request)
                assert made.transfers == price.transfers, (network, name)
                assert (name == "ring") <= price.cycles <= request.cycles(made), (network, name)
                assert (name == "ring") <= built_price(request, made).cycles <= request.cycles(made), (network, name)


def test_large_all_reduces_on_direct_networks() -> None:
    large = make("auto", "torus:3x4", message_bytes=1 << 21).provenance["auto"]["considered"]
    assert set(large) == TIERS[Tier.ALWAYS] | TIERS[Tier.FINE] | {"retime:of=symmetric"}
    middle = make("auto", "torus:3x4", message_bytes=1 << 17).provenance["auto"]["considered"]
    assert {name.split(":")[0] for name in middle} == TIERS[Tier.ALWAYS] | TIERS[Tier.FINE] | TIERS[Tier.SMALL]
    small = make("auto", "torus:3x4", message_bytes=1 << 10).provenance["auto"]["considered"]
    others = TIERS[Tier.NAMED] | TIERS[Tier.DEMANDS] | TIERS[Tier.ORDERS] | TIERS[Tier.SOME] | TIERS[Tier.GROUPS] | TIERS[Tier.MANY]
    assert {name.split(":")[0] for name in small} == set(METHODS) - others
    assert {"ring:bidirectional=true", "ring-2d:form=nested"} <= set(small)


def test_symmetric_schedules_are_timed_anew_where_they_reduce(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reductions then wait for each other less: faster than each of the searches alone. Not beyond RETIMED_ENDPOINTS."""
    monkeypatch.undo()
    made = make("auto", "torus:4x4", message_bytes=1 << 24)
    assert (made.provenance["auto"]["why"].split(": ")[0], verify_schedule(made).valid) == ("retime:of=symmetric", True)
    for network, collective in (("torus:4x4", "all-gather"), ("torus:4x5", "all-reduce"), ("switch:4", "all-reduce")):
        monkeypatch.setattr(retime, "RETIMED_ENDPOINTS", 16)
        assert "retime:of=symmetric" not in {label for label, _, _ in auto.candidates(ask(network, collective))}


@pytest.mark.usefixtures("_without_exact")
@pytest.mark.parametrize(("network", "diameter"), [("torus:4x4", 4), ("torus:3x5", 3), ("hypercube:4", 4), ("cayley:16@1+3", 4)])
def test_small_messages_take_few_hops(network: str, diameter: int) -> None:
    """An all-gather of 1 KiB: its farthest block takes 154 cycles a hop through routers and 2 flits at least."""
    request = ask(network, "all-gather", 1 << 10)
    made = load_methods()["auto"](request)
    assert diameter * 154 + 2 <= request.cycles(made) <= diameter * 159 * 21 // 20
    assert verify_schedule(made).valid


@pytest.mark.usefixtures("_without_exact")
@pytest.mark.parametrize(
    ("network", "method", "cycles"),
    [
        ("torus:4x4", "one-shot", 741),
        ("torus:3x3", "one-shot", 481),
        ("full:5", "recursive-doubling", 288),
        ("hypercube:3", "one-shot", 546),
    ],
)
def test_small_sums_take_fine_slots_where_these_are_faster(network: str, method: str, cycles: int) -> None:
    """Not twice the radius, as along trees; of equally fast schedules the one with slots of one length is kept."""
    request = ask(network, message_bytes=1 << 10)
    made = load_methods()["auto"](request)
    assert (made.provenance["method"], verify_schedule(made).valid) == (method, True)
    assert request.cycles(made) <= cycles
    assert isinstance(made, Schedule)
    assert (made.slot_cycles is None) == (method == "recursive-doubling")


def test_fine_slots_are_for_small_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a limit that leaves them out, what is found is slower; beyond it they are not tried."""
    request = ask("mesh:1x4", message_bytes=1 << 12)
    with_them = load_methods()["auto"](request)
    assert TIERS[Tier.SMALL] <= set(with_them.provenance["auto"]["considered"])
    monkeypatch.setattr(method, "FINE_BYTES", 4095)
    without = load_methods()["auto"](request)
    assert not TIERS[Tier.SMALL] & set(without.provenance["auto"]["considered"])
    assert request.cycles(with_them) < request.cycles(without)


@pytest.mark.parametrize(("network", "tried"), [("switch:3", True), ("ring:3", False)])
def test_fine_slots_for_large_messages_too_behind_switches(network: str, *, tried: bool) -> None:
    """There links are busy from the first stage to the last; on direct networks trees and symmetric schedules do the same."""
    made = load_methods()["auto"](ask(network, message_bytes=method.FINE_BYTES + 1))
    assert TIERS[Tier.SMALL].isdisjoint(made.provenance["auto"]["considered"]) != tried


@pytest.mark.usefixtures("_without_exact")
@pytest.mark.parametrize(
    ("network", "size", "by", "paced_is_faster"),
    [("hier-torus:2x2x4", 1 << 18, "packing", False), ("bigraph:2x4", 1 << 16, "multitree", False)],
)
def test_schedules_with_equal_slots_come_last_in_fine_slots(network: str, size: int, by: str, *, paced_is_faster: bool) -> None:
    """They take fewer cycles than in equal slots, and in the second case no more than a paced run of the same transfers. The
    method and options of the provenance make the same."""
    request = ask(network, message_bytes=size)
    source = load_methods()[by](request)
    made = paced.best_paced(request, [(by, source)], request.cycles(source))
    assert made is not None
    simulated = run(source, RunOptions(mode="paced", without_routers=True), message_bytes=size, machine=request.machine)
    assert verify_schedule(made).valid
    assert (request.cycles(made) > simulated.cycles) == paced_is_faster
    assert request.cycles(made) < request.cycles(source)
    alone = load_methods()["retime"](replace(request, options=made.provenance["options"]))
    assert request.cycles(alone) == request.cycles(made)
    assert paced.best_paced(request, [(by, source)], request.cycles(made)) is None
    *_, last = load_methods()["auto"](request).provenance["auto"]["considered"]
    assert last.startswith(auto.PACED)


@pytest.mark.usefixtures("_without_exact")
def test_fine_slots_that_rely_on_time_are_passed_over() -> None:
    """Partners exchange in one cycle, and the machine's routers may make messages late: the next schedule is taken."""
    request = ask("ace-torus:2x2x2", message_bytes=1 << 16)
    router = replace(request.machine.router, vc_choice="any")  # a virtual channel may come again too early
    request = replace(request, machine=replace(request.machine, router=router))
    pairs, trees = (load_methods()[name](request) for name in ("recursive-doubling", "multitree"))
    assert paced.best_paced(request, [("recursive-doubling", pairs)], 10**6) is None
    made = paced.best_paced(request, [("recursive-doubling", pairs), ("multitree", trees)], 10**6)
    assert made is not None
    assert made.provenance["options"]["of"] == "multitree"
    chosen = load_methods()["auto"](request)
    request.require_runnable(chosen)


def test_many_iterations_stay_in_equal_slots() -> None:
    """Written out they would take a row each: 25,920 transfers in place of 480."""
    request = ask("mesh:4x4", message_bytes=1 << 20)
    repeated = replace(load_methods()["packing"](request), certificate=None)
    assert repeated.repeats > 1
    few = replace(repeated, repeats=paced.REPEATED_ROWS * 16 // repeated.transfers)
    assert paced.may_be_paced(request, few)
    assert not paced.may_be_paced(request, replace(few, repeats=few.repeats + 1))


def test_several_side_by_side_where_endpoints_have_several_links() -> None:
    """Six planes: one message would use one of them."""
    made = make("auto", "dgx2", "all-gather", message_bytes=1 << 10).provenance["auto"]["considered"]
    assert {name for name in made if "channels" in name} == {f"{name}:channels=6" for name in METHODS if METHODS[name].side_by_side}
    assert not any("channels" in name for name in make("auto", "switch:5", "all-gather").provenance["auto"]["considered"])


def test_another_form_of_run_is_compared_instead() -> None:
    """The caller's cycles decide, not closed forms; what has none in that form is passed over, and all methods are tried."""

    def steps(schedule: AnySchedule) -> int:
        if schedule.provenance["method"] == "packing":
            raise UnsupportedError("too clever")
        return FAR + schedule.total_steps  # beyond any time bound, so that the search does not end early

    made = make("auto", "mesh:2x2", form=Form("by steps", steps))
    told = made.provenance["auto"]
    assert told["considered"]["packing"] == "too clever"
    found = {name: int(text.split()[0]) for name, text in told["considered"].items() if text.endswith(" cycles")}
    assert FAR + made.total_steps == min(found.values()) == found[told["why"].split(": ")[0]]
    assert f"fewest cycles by steps ({FAR + made.total_steps})" in told["why"]
    others = TIERS[Tier.NAMED] | TIERS[Tier.DEMANDS] | TIERS[Tier.ORDERS] | TIERS[Tier.SOME] | TIERS[Tier.GROUPS] | TIERS[Tier.MANY]
    assert {name.split(":")[0] for name in told["considered"]} == set(METHODS) - others


def test_an_interrupted_comparison_keeps_the_best_in_its_form(monkeypatch: pytest.MonkeyPatch) -> None:
    """Methods that search offer what is fast in slots to nobody who compares otherwise."""
    slowest = Form("backwards", lambda schedule: 10**9 - schedule.total_steps)
    request = ask("mesh:2x2", form=slowest)

    def interrupted(_: Request, __: Options) -> Schedule:
        raise KeyboardInterrupt

    monkeypatch.setitem(METHODS._entries, "exact", replace(METHODS["exact"], make=interrupted))
    with pytest.raises(KeyboardInterrupt):
        load_methods()["auto"](request)
    best = request.monitor.best
    assert best is not None
    assert request.monitor.best_cycles == slowest.cycles(best)


def test_methods_are_tried_in_one_order() -> None:
    """The earlier one of equally fast schedules is kept, so the order must not depend on names or on where a method stands."""
    orders = [METHODS[name].order for name in METHODS if METHODS[name].tier is not Tier.NAMED]
    assert len(set(orders)) == len(orders)


def test_a_schedule_close_to_the_time_bound_ends_the_search() -> None:
    """Methods that repeat a part go first; of equally fast schedules that of the method of the lower order is still kept."""
    told = make("auto", "torus:32x32", message_bytes=1 << 26).provenance["auto"]
    assert next(iter(told["considered"])) == "symmetric"
    assert told["why"].startswith("symmetric: fewest cycles in slots")
    bound = quick_time_bound(ask("torus:32x32", message_bytes=1 << 26))
    assert int(told["considered"]["symmetric"].split()[0]) <= bound * auto.ENOUGH
    assert told["considered"]["packing"] == f"not tried: symmetric is within 0.2 % of the time bound ({bound} cycles)"
    assert not auto.is_enough(True, bound, bound)
    assert not auto.is_enough(False, bound * 1002 // 1000 + 1, bound)


def test_huge_networks_have_methods_without_a_row_for_each_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auto, "PAIRWISE_ENDPOINTS", 8)
    assert list(make("auto", "torus:3x3", "all-gather").provenance["auto"]["considered"]) == ["symmetric", "netreduce", auto.PACED]
    with pytest.raises(UnsupportedError, match=r"no method applies: symmetric: .*; netreduce: "):
        make("auto", "mesh:3x3", "all-gather")


def test_a_better_schedule_allows_no_more_work() -> None:
    """Near the time bound, so that processes that share candidates leave out the same."""
    ledger = prices.Ledger(1, 1000, 100)
    ledger.note(FREE, "first", 1200, 1000)
    most = ledger.most
    assert most is not None
    assert ledger.refusal(Price(200_000), in_slots=True) is not None
    ledger.note(Price(120_000), "second", 1150, 100_000)
    assert ledger.most == most
    twice = prices.Ledger(2, 1000, 100)
    twice.note(FREE, "first", 1200, 1000)
    assert twice.most == 2 * most
