"""Costs of schedules with chunks of several sizes, several buffers and slow links: counted anew, and by the flow engine."""

from collections import Counter, defaultdict
from fractions import Fraction

import numpy as np
import pytest

import certree.api as ct
from certree.extras.costs.model.cost_model import load_parameters
from certree.extras.costs.model.counting import COUNTED, count
from certree.extras.costs.model.flows.time import Reading, schedule_time
from certree.extras.costs.model.formulas.alpha_beta_gamma import AlphaBetaGamma
from certree.extras.costs.model.formulas.genmodel import load_genmodel
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op
from certree.verify.checker import verify_schedule
from tests.cli.running import certree, json_of
from tests.fuzz import forms as by_hand
from tests.synth.flows.demands import zipf

GENMODEL = load_genmodel("gentree")
BETA = AlphaBetaGamma("beta", Fraction(0), Fraction(1), Fraction(0))
BUSIEST = Reading(sharing="busiest")


def skewed() -> ct.Schedule:
    demand = ct.demand(zipf(4, 0, 1 << 14, hot=True), "ring:4")
    return ct.synthesize("ring:4", ct.collective("alltoallv", demand=demand), method="flows")


def slow_ring() -> ct.Schedule:
    return ct.synthesize("ring:4,link-capacity=0-1:1/3", method="multitree", size="4KiB")


MADE = {
    "demand": skewed,
    "buffers": by_hand.FORMS["buffers"],
    "partial sums": lambda: ct.synthesize("ring:4", method="partial-sums", size="4KiB"),
    "slow links": slow_ring,
}


def totals(made: Schedule) -> tuple[int, Fraction, Fraction, Fraction]:
    """A, B, C and D of direct transfers that do not repeat, with dicts and loops; links in shares over a full one."""
    topology = made.topology
    speed = Counter()
    for a, b, capacity in zip(topology.src.tolist(), topology.dst.tolist(), topology.capacity.tolist(), strict=True):
        speed[a, b] += Fraction(capacity, topology.scale)
    loads, sums, copies, sending = defaultdict(Counter), defaultdict(Counter), defaultdict(Counter), set()
    names = ("step", "op", "chunk", "src", "dst")
    columns = [getattr(made, name).tolist() for name in names]
    buffers = [0] * made.transfers if made.dst_buffer is None else made.dst_buffer.tolist()
    for step, op, chunk, src, dst, buffer in zip(*columns, buffers, strict=True):
        size = 1 if made.chunk_granules is None else int(made.chunk_granules[chunk])
        if src != dst:
            sending.add(step)
            loads[step][src, dst] += size
        if op == Op.REDUCE:
            sums[step][dst, chunk, buffer, size] += 1
        elif src == dst:
            copies[step][dst] += 2 * size
    carried = sum(max(Fraction(load) / speed[link] for link, load in step.items()) for step in loads.values())
    added = accessed = 0
    for step in {*sums, *copies}:
        additions, accesses = Counter(), Counter(copies[step])
        for (node, _, _, size), terms in sums[step].items():
            additions[node] += terms * size
            accesses[node] += (terms + 2) * size
        added += max(additions.values(), default=0)
        accessed += max(accesses.values())
    whole = made.message_chunks
    return len(sending), carried / whole, Fraction(added, whole), Fraction(accessed, whole)


@pytest.mark.parametrize("form", MADE)
def test_counted_by_hand(form: str) -> None:
    made = MADE[form]()
    lowered = COUNTED.lowered(made)
    assert verify_schedule(lowered).valid
    assert (lowered.route < 0).all()
    profile = count(made).profile()
    assert (profile.steps, profile.received, profile.additions, profile.accesses) == totals(lowered)


@pytest.mark.parametrize("form", MADE)
def test_flows_on_links_take_as_long(form: str) -> None:
    lowered = COUNTED.lowered(MADE[form]())
    flows = schedule_time(lowered, GENMODEL, Fraction(1 << 20, 4), BUSIEST)
    assert GENMODEL.cost(count(lowered), 1 << 20).seconds == flows.seconds > 0


def test_equal_blocks_cost_what_an_all_to_all_does() -> None:
    """The message of a demand is all of it, that of an all-to-all the buffer of one endpoint with its own block."""
    amounts = np.where(np.eye(4, dtype=np.bool_), 0, 1600)
    demand = ct.collective("alltoallv", demand=ct.demand(amounts, "ring:4"))
    one = ct.synthesize("ring:4", demand, method="ring-all-to-all")
    other = ct.synthesize("ring:4", "all-to-all", method="ring-all-to-all", size=6400)
    for parameters in ("gentree", "netreduce"):
        model = load_parameters(parameters)
        assert model.cost(count(one), 12 * 1600) == model.cost(count(other), 4 * 1600)


@pytest.mark.parametrize("parameters", ["gentree", "netreduce", "ace"])
def test_a_network_of_half_links_takes_twice_as_long_on_them(parameters: str) -> None:
    """Costs are those of a full link."""
    terms = []
    for network in ("ring:4", "ring:4,capacity=1/2"):
        model = load_parameters(parameters)
        found = model.cost(count(ct.synthesize(network, method="ring", size="1MiB")), 1 << 20)
        terms.append({term.symbol: term.seconds for term in found.terms})
    full, half = terms
    assert half == {symbol: (2 if symbol in ("beta", "epsilon", "B_intra", "links") else 1) * full[symbol] for symbol in full}


def test_one_slow_link_of_a_full_network() -> None:
    """A slow link takes three times as long as the others, by each reading of flows, too."""
    made = slow_ring()
    cost = BETA.cost(count(made), 1 << 20).seconds
    assert cost == totals(made)[1] * (1 << 20)
    wide = ct.synthesize("ring:4", method="multitree", size="4KiB")
    plain, slow = (schedule_time(one, GENMODEL, Fraction(1 << 18), Reading()).transfer for one in (wide, made))
    assert plain < slow


@pytest.mark.parametrize("form", MADE)
def test_priced(form: str, tmp_path) -> None:
    """The command says which collective it is."""
    made = MADE[form]()
    ct.save(made, tmp_path / "s.json")
    document = json_of("cost", tmp_path / "s.json", "--size", "1MiB")
    assert document["cells"][0]["collective"] == made.collective.name
    assert made.collective.name in certree("cost", tmp_path / "s.json", "--size", "1MiB").out
