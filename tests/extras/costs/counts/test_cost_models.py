"""What cost models say of schedules that were made: their papers' closed forms, from transfers alone."""

import re
from dataclasses import replace
from fractions import Fraction

import pytest

from certree.extras.costs.model.cost_model import load_parameters
from certree.extras.costs.model.counting import count
from certree.extras.costs.model.flows.time import Reading, schedule_time
from certree.extras.costs.model.formulas.ace import AceEndpoint
from certree.extras.costs.model.formulas.alpha_beta_gamma import AlphaBetaGamma
from certree.extras.costs.model.formulas.genmodel import load_genmodel
from certree.extras.costs.model.formulas.loggp import LogGP
from certree.extras.costs.model.formulas.netreduce import Machines, flat_ring, hierarchical_netreduce, tencent
from certree.models.common.errors import InputError
from tests.synth.execution import make

GENMODEL = load_genmodel("gentree")
ABG = AlphaBetaGamma("mine", Fraction(1, 10**5), Fraction(8, 10**11), Fraction(15, 10**11))
LOGGP = LogGP("mine", Fraction(6, 10**6), Fraction(2, 10**6), Fraction(3, 10**6), Fraction(1, 10**10))
BYTES = 4 * 10**7
START = 2 * GENMODEL.server.alpha_seconds + GENMODEL.middle.alpha_seconds

SCHEDULES = [
    ("reduce-broadcast", 12, {}), ("cps", 12, {}), ("hierarchical-cps", 24, {"factors": "12x2"}),
    ("hierarchical-cps", 24, {"factors": "4x3x2"}), ("ring", 12, {}), ("halving-doubling", 16, {}),
    ("halving-doubling", 12, {"fold": "whole"}),
]  # fmt: skip


@pytest.mark.parametrize(("method", "nodes", "options"), SCHEDULES)
def test_tables_1_and_2(method: str, nodes: int, options: dict[str, str]) -> None:
    counts = count(make(method, f"switch:{nodes}", options=options))
    closed = counts.profile()
    assert GENMODEL.cost(counts, BYTES).seconds == closed.seconds(GENMODEL.middle, GENMODEL.server, START, Fraction(BYTES, 4))
    assert [term.seconds for term in ABG.cost(counts, BYTES).terms] == [
        closed.steps * Fraction(1, 10**5),
        closed.received * BYTES * Fraction(8, 10**11),
        closed.additions * BYTES * Fraction(15, 10**11),
    ]


def test_genmodel_term_by_term() -> None:
    cost = GENMODEL.cost(count(make("cps", "switch:12")), BYTES)
    server, level, floats = GENMODEL.server, GENMODEL.middle, Fraction(BYTES, 4)
    assert {term.symbol: term.seconds for term in cost.terms} == {
        "alpha": 2 * START,
        "beta": Fraction(22, 12) * floats * level.beta_seconds_per_float,
        "gamma": Fraction(11, 12) * floats * server.gamma_seconds_per_float,
        "delta": Fraction(13, 12) * floats * server.delta_seconds_per_float,
        "epsilon": Fraction(22, 12) * floats * 3 * level.epsilon_seconds_per_float,
    }


def test_genmodel_takes_the_slowest_link_of_a_step() -> None:
    """CPS on two trees: 3 servers send 9 of 36 shares over the link between the top switches, slower than all others."""
    counts = count(make("cps", "tree:3/3@10"))
    level, server = GENMODEL.cross, GENMODEL.server
    links = 2 * Fraction(9, 6) * Fraction(BYTES, 4) * level.beta_seconds_per_float
    terms = {term.symbol: term.seconds for term in GENMODEL.cost(counts, BYTES).terms}
    assert terms["beta"] == links
    # server, switch, link between the top switches, switch, server
    assert terms["alpha"] == 2 * (2 * server.alpha_seconds + 2 * GENMODEL.middle.alpha_seconds + level.alpha_seconds)
    assert terms["epsilon"] == 0
    # among many servers incast can make a link to a server the slowest
    wide = replace(GENMODEL, middle=replace(GENMODEL.middle, epsilon_seconds_per_float=Fraction(1), incast_threshold=2))
    assert {term.symbol: term.seconds for term in wide.cost(counts, BYTES).terms}["epsilon"] == 2 * Fraction(5, 6) * 10**7 * 4


def test_genmodel_of_neighbours_and_of_wide_links() -> None:
    """A direct link starts up as a server's switch does; the beta of links is that of the narrowest, whatever that is called."""
    direct = GENMODEL.cost(count(make("cps", "torus:3x3")), BYTES)
    assert direct.terms[0].seconds == 2 * START
    plain, wide = (GENMODEL.cost(count(make("cps", network)), BYTES) for network in ("switch:12", "switch:12,capacity=3"))
    assert plain == wide


@pytest.mark.parametrize(
    ("method", "network"),
    [
        ("cps", "ss:12"),
        ("ring", "tree:4x8@10"),
        ("reduce-broadcast", "tree:2x3"),
        ("gentree", "tree:3+4"),
        ("gentree", "leafspine:3x2x4"),
        ("gentree", "tree:4x6/2x5@10"),
        ("cps", "torus:3x3"),
        ("halving-doubling", "fattree:3x4"),
    ],
)
def test_flows_on_links_take_as_long(method: str, network: str) -> None:
    """The flow simulator, which knows nothing of the counts, read so that a step lasts as its busiest link."""
    made = make(method, network)
    flows = schedule_time(made, GENMODEL, Fraction(BYTES, 4), Reading(sharing="busiest"))
    assert GENMODEL.cost(count(made), BYTES).seconds == flows.seconds


def test_parameters_that_a_network_needs_must_be_there() -> None:
    alone = replace(GENMODEL, name="mine", root_level=None, cross_level=None)
    assert alone.cost(count(make("cps", "switch:4")), BYTES).seconds > 0
    with pytest.raises(InputError, match=re.escape("parameters 'mine' have no table [root]")):
        alone.cost(count(make("cps", "tree:2x3")), BYTES)


@pytest.mark.parametrize("nodes", [3, 8])
def test_loggp_of_a_ring(nodes: int) -> None:
    """2(N - 1) messages of M/N one after the other: o + (k - 1) G + L + o each."""
    message = LOGGP.latency_seconds + 2 * LOGGP.overhead_seconds + (Fraction(BYTES, nodes) - 1) * LOGGP.gap_seconds_per_byte
    assert LOGGP.cost(count(make("ring", f"switch:{nodes}")), BYTES).seconds == 2 * (nodes - 1) * message


@pytest.mark.parametrize("gap", [Fraction(3, 10**6), Fraction(1, 10**6)])
def test_loggp_of_co_located_servers(gap: Fraction) -> None:
    """N - 1 messages of M/N a step, N - 2 gaps between them; the overhead where it is longer than the gap."""
    model = replace(LOGGP, gap_seconds=gap)
    step = model.latency_seconds + 2 * model.overhead_seconds + 4 * max(gap, model.overhead_seconds)
    step += 5 * (Fraction(BYTES, 6) - 1) * model.gap_seconds_per_byte
    assert model.cost(count(make("cps", "switch:6")), BYTES).seconds == 2 * step


def test_loggp_counts_those_who_receive_too() -> None:
    cost = LOGGP.cost(count(make("reduce-broadcast", "switch:6")), BYTES)
    assert {term.symbol: term.seconds for term in cost.terms}["g"] == 2 * 4 * LOGGP.gap_seconds


def test_a_message_of_less_than_a_byte_takes_no_time_of_its_own() -> None:
    assert LOGGP.cost(count(make("ring", "switch:8")), 1).seconds == 14 * (LOGGP.latency_seconds + 2 * LOGGP.overhead_seconds)


def machines() -> Machines:
    found = load_parameters("netreduce")
    assert isinstance(found, Machines)
    return found


@pytest.mark.parametrize(("count_machines", "gpus"), [(4, 8), (3, 4), (8, 2)])
def test_netreduce_equations(count_machines: int, gpus: int) -> None:
    """The third but for shares that are stored at the reducing switch before they are forwarded: a step and M / B_inter more."""
    network, total = f"tree:{count_machines}x{gpus}", count_machines * gpus
    for method, form in (("ring", flat_ring(total, gpus)), ("tencent", tencent(total, gpus))):
        assert machines().cost(count(make(method, network)), BYTES) == machines().closed_cost(form, BYTES)
    made = make("netreduce", f"{network},reducing={total + count_machines}", options={"form": "hierarchical"})
    form = hierarchical_netreduce(total, gpus)
    later = replace(form, steps=form.steps + 1, between=form.between + 1)
    assert machines().cost(count(made), BYTES) == machines().closed_cost(later, BYTES)


def utilization(cores: int, *, links: int = 1, read: Fraction = Fraction(64), method: str = "ring-2d") -> Fraction:
    """Part of 4 x 25 GB/s (times `links`) that an all-reduce of 16 MB has, 2 * 15/16 of it sent by each of 16 endpoints."""
    found = load_parameters("ace")
    assert isinstance(found, AceEndpoint)
    endpoint = replace(
        found,
        cores=cores,
        link_bytes_per_second=links * found.link_bytes_per_second,
        core_read_bytes_per_second=read * 10**9,
    )
    seconds = endpoint.cost(count(make(method, "torus:4x4")), 16 * 10**6).seconds
    return Fraction(30, 16) * 16 * 10**6 / (4 * links * 25 * 10**9) / seconds


def test_ace_figure_5_falls_from_half_to_15_percent() -> None:
    """With 12 cores and a ring along each dimension after the other: (a) 48 %, (c) 15 %, as its text says."""
    scenarios = [utilization(12), utilization(12, links=3), utilization(12, links=3, read=Fraction(64, 5))]
    assert [round(100 * part) for part in scenarios] == [48, 35, 15]
    assert utilization(1) < utilization(4) < utilization(12) < utilization(16) == utilization(17)  # 1 TB/s is 15.6 cores


def test_ace_terms() -> None:
    endpoint = load_parameters("ace")
    terms = {term.symbol: term.seconds for term in endpoint.cost(count(make("cps", "full:4")), 4000).terms}
    assert terms == {
        "latency": 2 * Fraction(2, 10**6),
        "links": Fraction(2 * 1000, 25 * 10**9) / Fraction("0.95"),
        "loads": Fraction(3 * 1000 * (2 + 1), 256 * 10**9),
    }
