"""Checks of GenModel and GenTree: hardness, many senders to one, times on GPUs, and parameters fitted to times."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

import certree.api as ct
from certree.extras.costs.model.fitting.fit import fit
from certree.extras.costs.model.fitting.measurements import CO_LOCATED_PS, CROSS, EXCHANGE, MIDDLE, ROOT, Measurement
from certree.extras.costs.model.formulas.genmodel import load_genmodel
from certree.extras.costs.model.profile import factored_profile
from certree.extras.papers.scorecard.check import CHECKS, Found, yes

#: Table 4: milliseconds with 10^7, 3.2 10^7, 10^8 and 3.2 10^8 floats, by GPUs: GenTree, NCCL
TABLE_4 = {
    16: (("0.764", "1.677", "5.058", "15.501"), ("0.941", "2.695", "8.170", "25.606")),
    32: (("0.842", "2.340", "7.030", "22.343"), ("1.011", "3.163", "9.081", "27.978")),
    64: (("0.971", "2.668", "8.093", "25.716"), ("1.149", "3.243", "9.886", "31.049")),
}
FLOATS = tuple(map(Fraction, ("1e7", "3.2e7", "1e8", "3.2e8")))
MACHINE_BYTES = 4 * 200 * 10**9 // 8  # a second, of four interfaces
TENTH = Fraction(1, 10)


@CHECKS.register("gentree-table4-links")
def times_of_the_interfaces() -> list[Found]:
    """Table 4 by the interfaces of a machine alone: a ring of all GPUs; 8xn, by which 2(n - 1)/n of the vector leave a machine."""
    off: dict[str, list[Fraction]] = {"NCCL": [], "GenTree": []}
    for gpus, (ours, theirs) in TABLE_4.items():
        for name, members, times in (("GenTree", gpus // 8, ours), ("NCCL", gpus, theirs)):
            least = [2 * Fraction(members - 1, members) * 4 * floats / MACHINE_BYTES * 1000 for floats in FLOATS]
            off[name] += [Fraction(time) / bound - 1 for time, bound in zip(times, least, strict=True)]
    below = sum(one < 0 for found in off.values() for one in found)
    return [
        Found(f"times of {name} within a tenth ({below} of all below)", sum(abs(one) <= TENTH for one in found), 12)
        for name, found in off.items()
    ]


#: milliseconds of start-up, GB/s: those by which the largest relative error in Table 4 is the least, of each method
START_AND_RATE = {"GenTree": (Fraction("0.262"), Fraction("91.8")), "NCCL": (Fraction("0.157"), Fraction("87.4"))}


@CHECKS.register("gentree-table4-chosen")
def one_start_and_one_rate() -> list[Found]:
    """Table 4 by a start-up and a rate for each method, chosen by it: 2(n - 1)/n of the vector, n machines for GenTree, whose first
    step stays inside them, and n GPUs for NCCL's ring."""
    off: dict[str, list[Fraction]] = {"GenTree": [], "NCCL": []}
    faster: list[Fraction] = []
    for gpus, printed in TABLE_4.items():
        times: dict[str, list[Fraction]] = {}
        for name, members, shown in zip(off, (gpus // 8, gpus), printed, strict=True):
            start, rate = START_AND_RATE[name]
            times[name] = [start + 2 * Fraction(members - 1, members) * 4 * floats / (rate * 10**6) for floats in FLOATS]
            off[name] += [abs(ours / Fraction(time) - 1) for ours, time in zip(times[name], shown, strict=True)]
        faster += [theirs / ours for ours, theirs in zip(times["GenTree"], times["NCCL"], strict=True)]
    within = [
        Found(f"times of {name} within a tenth (at most {float(100 * max(found)):.1f} %)", sum(one <= TENTH for one in found), 12)
        for name, found in off.items()
    ]
    return [*within, Found("most times as fast, to two digits", f"{float(max(faster)):.2f}", "1.65")]


@CHECKS.register("gentree-fig3-credits")
def many_to_one() -> list[Found]:
    """Fig. 3, Section 3.2: beyond 9 communicators extra time grows. Here groups of 6, 9 and 15 nodes exchange 16 KiB, flit by
    flit."""
    more = []
    for servers in (6, 9, 15):
        made = ct.synthesize(f"switch:{servers}", "reduce-scatter", method="cps", size=servers << 14)
        more.append(ct.simulate(made, engine="flit", run="paced").cycles - (servers - 1) * (1 << 14) // 16)
    grows = more[2] - more[1] > 14 * (1 << 14) // 16 // 100  # by a hundredth of the payload's time
    words = ", ".join(map(str, more))
    return [Found(f"extra time of 6, 9 and 15 communicators grows ({words} cycles)", yes(grows), "yes")]


Triple = tuple[int, int, int]


def has_exact_cover(elements: int, triples: Sequence[Triple]) -> bool:
    """Whether some of the triples hold each of 0 .. elements - 1 once (X3C, NP-hard: Garey and Johnson, SP2)."""
    return any(sorted(sum(chosen, ())) == list(range(elements)) for chosen in combinations(triples, elements // 3))


def gathers_in_three(elements: int, triples: Sequence[Triple]) -> bool:
    """Whether an all-gather, or all-reduce, takes three steps in the network of an instance of X3C, by trying all that its source
    may send.

    Nodes: a source, which reaches the triples through a switch by a link of elements / 3 units; the triples; the elements, each
    joined to its triples both ways; for each element a tail, behind one link. These links carry a unit a step, and take one. From
    each node but the source a link of three steps leads to each other node: all data but the source's are there in time, and what
    reaches a node later than at the start cannot use them. So all depends on when the source's unit, alone or in a sum, is
    everywhere.

    In general: the tails have it after three steps only if the elements have it after two, so the triples that have it after one
    hold all elements; these are elements / 3 at most, so they are an exact cover. With one, the elements send to all other
    triples in the third step. Parts of the unit may take several routes; then each part needs such triples, and their sizes add
    up to the same. O(C(triples, elements / 3)^3).
    """
    choices = [set(chosen) for chosen in combinations(range(len(triples)), min(elements // 3, len(triples)))]

    def reaches_all(step: int, known: set[tuple[str, int]]) -> bool:
        if step == 3:
            return len(known) == len(triples) + 2 * elements
        after = set(known)
        for number, triple in enumerate(triples):
            after |= {("element", one) for one in triple} if ("triple", number) in known else set()
            after |= {("triple", number)} if any(("element", one) in known for one in triple) else set()
        after |= {("tail", one) for one in range(elements) if ("element", one) in known}
        return any(reaches_all(step + 1, after | {("triple", number) for number in chosen}) for chosen in choices)

    return reaches_all(0, set())


@CHECKS.register("gentree-theorem3")
def hard_all_gathers() -> list[Found]:
    """Theorem 3, as a reduction of X3C: three steps are enough exactly where a cover exists, for 171 instances of six elements."""
    first, *others = combinations(range(6), 3)
    instances = [(first, *more) for more in combinations(others, 2)]
    answers = [(has_exact_cover(6, triples), gathers_in_three(6, triples)) for triples in instances]
    with_cover = sum(one for one, _ in answers)
    words = f"of {len(answers)} instances, {with_cover} with a cover, those without three steps, or the reverse"
    return [Found(words, sum(one != two for one, two in answers), 0)]


@CHECKS.register("gentree-fit")
def parameters_from_times() -> list[Found]:
    """Section 3.4, Table 5: times that its parameters give to co-located PS on one switch, and to exchanges over three kinds of
    links, lead back to them, to three digits."""
    model = load_genmodel("gentree")
    kinds = {
        MIDDLE: (model.middle, (1, 0, 0)),
        ROOT: (model.root, (2, 1, 0)),
        CROSS: (model.cross, (2, 0, 1)),
    }
    times = [
        Measurement(EXCHANGE, number, floats, float(model.start_seconds(*way) + floats * level.flow_seconds(number)), link=link)
        for link, (level, way) in kinds.items()
        for number in range(2, 16)
        for floats in (10**6, 10**7, 10**8)
    ]
    start = model.start_seconds(1, 0, 0)
    for number in range(2, 16):
        profile = factored_profile((number,))
        times += [
            Measurement(CO_LOCATED_PS, number, floats, float(profile.seconds(model.middle, model.server, start, Fraction(floats))))
            for floats in (10**6, 10**7, 10**8)
        ]
    near = fit(times)
    found = [
        Found(name, f"{near.estimates[name].value:.2e}", f"{float(planted):.2e}")
        for name, planted in (("gamma", model.server.gamma_seconds_per_float), ("delta", model.server.delta_seconds_per_float))
    ]
    for link, (level, way) in kinds.items():
        one = near if link == MIDDLE else near.links[link]
        planted = {
            "alpha": model.start_seconds(*way),
            "beta": level.beta_seconds_per_float,
            "epsilon": level.epsilon_seconds_per_float,
        }
        found += [
            Found(f"{link}, {name}", f"{one.estimates[name].value:.2e}", f"{float(value):.2e}") for name, value in planted.items()
        ]
        found.append(Found(f"{link}, w_t", one.threshold[0] if one.threshold else 0, level.incast_threshold))
    return found
