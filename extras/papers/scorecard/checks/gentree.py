"""Checks of GenModel and GenTree."""

from fractions import Fraction

import certree.api as ct
from certree.extras.costs.model.counting import count
from certree.extras.costs.model.formulas.genmodel import load_genmodel
from certree.extras.costs.model.optimality import optimality
from certree.extras.costs.model.profile import Profile, factored_profile
from certree.extras.papers.scorecard.check import CHECKS, Found, schedule_of, yes

N = 12
THRESHOLD = 9
_OTHERS = Fraction(N - 1, N)


def _profile(method: str, nodes: int = N, **options: str) -> Profile:
    return count(schedule_of(f"switch:{nodes}", method=method, **options)).profile()


@CHECKS.register("gentree-fig1")
def plan_types() -> list[Found]:
    """Fig. 1 and Section 2.1: the steps of the four plan types, on 12 and 16 servers."""
    steps = {(method, nodes): _profile(method, nodes).steps for method in ("reduce-broadcast", "cps", "ring") for nodes in (12, 16)}
    halving = _profile("halving-doubling", 16).steps
    return [
        Found("reduce-broadcast", steps["reduce-broadcast", 12], 2),
        Found("co-located PS", steps["cps", 12], 2),
        Found("ring, 2(N - 1)", steps["ring", 12], 22),
        Found("halving and doubling on 16", halving, 8),
        Found("halving and doubling on 12, 2 ceil(log N)", _profile("halving-doubling", 12, fold="whole").steps, 8),
    ]


@CHECKS.register("gentree-table1")
def alpha_beta_gamma() -> list[Found]:
    """Table 1: traffic and additions of four plan types, for a vector of 1, on 12 servers."""
    whole = _profile("halving-doubling", N, fold="whole")
    found = []
    for name, profile in (("co-located PS", _profile("cps")), ("ring", _profile("ring"))):
        found += [Found(f"{name}, beta", profile.received, 2 * _OTHERS), Found(f"{name}, gamma", profile.additions, _OTHERS)]
    server = _profile("reduce-broadcast")
    found += [Found("reduce-broadcast, beta", server.received, 2 * (N - 1)), Found("its gamma", server.additions, 2 * (N - 1))]
    return [*found, Found("RHD on 12, beta", whole.received, 2 * _OTHERS + 2), Found("its gamma", whole.additions, _OTHERS + 1)]


@CHECKS.register("gentree-table2")
def memory_and_incast() -> list[Found]:
    """Table 2: memory accesses and incast of the plan types, on 12 servers with a threshold of 9."""
    server, ring, cps = _profile("reduce-broadcast"), _profile("ring"), _profile("cps")
    return [
        Found("ring, delta", ring.accesses, 3 * _OTHERS),
        Found("ring, epsilon", ring.excess(THRESHOLD), 0),
        Found("co-located PS, delta", cps.accesses, Fraction(N + 1, N)),
        Found("co-located PS, epsilon", cps.excess(THRESHOLD), 2 * _OTHERS * (N - THRESHOLD)),
        Found("reduce-broadcast, gamma", server.additions, N - 1),
        Found("reduce-broadcast, delta", server.accesses, N + 1),
        Found("reduce-broadcast, epsilon", server.excess(THRESHOLD), 2 * (N - 1) * (N - THRESHOLD)),
        Found("hierarchical, 6x2, delta", factored_profile([6, 2]).accesses, Fraction(2 * 2 + N + 1, N)),
        Found("hierarchical, 2x3x4, delta", factored_profile([2, 3, 4]).accesses, Fraction(2 * (3 + 3 * 4) + 25, 24)),
        Found("hierarchical, 12x2, epsilon", factored_profile([12, 2]).excess(THRESHOLD), 0),
    ]


@CHECKS.register("gentree-eq2")
def least_traffic() -> list[Found]:
    """Eq. (2): a server sends or receives at least 2(N - 1)/N of the vector, the partition bound on one switch."""
    bound = ct.bound(f"switch:{N}").bandwidth
    return [Found("bound", bound, 2 * _OTHERS), Found("the ring", _profile("ring").received, 2 * _OTHERS)]


@CHECKS.register("gentree-eq5")
def accesses_of_one_addition() -> list[Found]:
    """Eqs. (3) to (5): x vectors added one by one take 3(x - 1) accesses, at once x + 1; the most saved is 2/3."""
    at_once = _profile("cps").accesses * N
    return [
        Found("accesses of 12 blocks one by one", _profile("ring").accesses * N, 3 * (N - 1)),
        Found("at once", at_once, N + 1),
        Found("saved by 10^6 at once, to three digits", str(round(1 - Fraction(10**6 + 1, 3 * (10**6 - 1)), 3)), "667/1000"),
    ]


@CHECKS.register("gentree-eq10")
def seconds_of_a_float() -> list[Found]:
    """Eqs. (6) to (10): beta' = beta + max(w - w_t, 0) epsilon, constant up to the threshold of 9."""
    level = load_genmodel("gentree").middle
    beta, epsilon = level.beta_seconds_per_float, level.epsilon_seconds_per_float
    return [
        Found("beta' with 9 communicators over beta", level.flow_seconds(9) / beta, 1),
        Found("epsilons in beta' with 15", (level.flow_seconds(15) - beta) / epsilon, 6),
    ]


@CHECKS.register("gentree-eq11")
def terms_of_the_model() -> list[Found]:
    """Eq. (11): the five terms of a ring on one switch by GenModel equal Table 2's, to the last digit."""
    floats, model = 10**6 * N, load_genmodel("gentree")
    cost = ct.cost(f"switch:{N}", size=4 * floats, parameters="gentree", methods=["ring"]).cells[0]
    found = {term["symbol"]: Fraction(term["seconds"]) for term in cost["terms"]}
    server, middle = model.server, model.middle
    start = 2 * server.alpha_seconds + middle.alpha_seconds  # of both servers, and of the switch between them
    paper = {
        "alpha": 2 * (N - 1) * start,
        "beta": 2 * _OTHERS * floats * middle.beta_seconds_per_float,
        "gamma": _OTHERS * floats * server.gamma_seconds_per_float,
        "delta": 3 * _OTHERS * floats * server.delta_seconds_per_float,
        "epsilon": Fraction(0),
    }
    return [Found(f"seconds of {symbol}", found[symbol], paper[symbol]) for symbol in paper]


@CHECKS.register("gentree-theorem1")
def least_accesses() -> list[Found]:
    """Theorem 1, Eqs. (12) to (15): (N + 1)/N accesses at least, with h additions (N - 1 + 2h)/N."""
    servers = optimality(schedule_of(f"switch:{N}", method="cps"), THRESHOLD).memory
    levels = optimality(schedule_of(f"switch:{N}", method="hierarchical-cps", factors="6x2"), THRESHOLD).memory
    return [
        Found("bound", servers.bound, Fraction(N + 1, N)),
        Found("co-located PS meets it", yes(servers.optimal), "yes"),
        Found("6x2, whose two additions cost (N - 1 + 2h)/N", levels.accesses, Fraction(2 * 2 + N + 1, N)),
    ]


@CHECKS.register("gentree-theorem2")
def not_both() -> list[Found]:
    """Theorem 2: beyond w_t servers no plan is optimal in memory access and in incast; on one switch, and on links to everyone."""
    one, many = (optimality(schedule_of(f"{kind}:{N}", method="cps"), THRESHOLD) for kind in ("switch", "full"))
    return [
        Found("both possible on one switch", yes(one.both_possible), "no"),
        Found("co-located PS optimal in both on full:12", yes(many.memory.optimal and many.incast.optimal), "no"),
    ]


@CHECKS.register("gentree-algorithm1")
def basic_plan() -> list[Found]:
    """Algorithm 1: each block finds a server; on tree:2+5 greedy choice leaves one without."""
    return [Found(f"blocks without a server on {network}", _unplaced(network), 0) for network in ("tree:2x3", "tree:2+5")]


def _unplaced(network: str) -> int:
    """The number of blocks that the printed lines 10 to 23 leave to nobody at the root."""
    sizes = [int(size) for size in network[5:].split("+")] if "+" in network else [3, 3]
    total = sum(sizes)
    held = [[block for block in range(total) if _place(block, total, size) == server] for size in sizes for server in range(size)]
    taken: set[int] = set()
    for blocks in held:
        taken |= {block for block in blocks if block not in taken} and {next(block for block in blocks if block not in taken)}
    return total - len(taken)


def _place(block: int, total: int, servers: int) -> int:
    """The server of a switch with that many to which the same lines give a block: in turn, the first ones one more."""
    few, more = divmod(total, servers)
    first = more * (few + 1)
    return block // (few + 1) if block < first else more + (block - first) // few


@CHECKS.register("gentree-table5")
def parameters() -> list[Found]:
    """Table 5: the parameters of the preset `gentree`."""
    model = load_genmodel("gentree")
    paper = (
        ("cross", model.cross, "3.00e-2", "6.40e-9", "6.00e-11"),
        ("root", model.root, "6.58e-3", "6.40e-10", "6.00e-12"),
        ("middle", model.middle, "6.58e-3", "6.40e-9", "1.22e-10"),
    )
    found = []
    for name, level, alpha, beta, epsilon in paper:
        found += [
            Found(f"alpha, {name}", level.alpha_seconds, Fraction(alpha)),
            Found(f"beta, {name}", level.beta_seconds_per_float, Fraction(beta)),
            Found(f"epsilon, {name}", level.epsilon_seconds_per_float, Fraction(epsilon)),
            Found(f"w_t, {name}", level.incast_threshold, 9),
        ]
    server = model.server
    return [
        *found,
        Found("alpha, server", server.alpha_seconds, Fraction("6.58e-3")),
        Found("gamma, server", server.gamma_seconds_per_float, Fraction("6.00e-10")),
        Found("delta, server", server.delta_seconds_per_float, Fraction("1.87e-10")),
    ]


@CHECKS.register("gentree-fig9")
def calculation_saved() -> list[Found]:
    """Section 5.1: co-located PS calculates 61 % less than the ring on 12 servers, here with Table 5's gamma and delta."""
    server = load_genmodel("gentree").server
    ring, cps = (
        _seconds(_profile(method), server.gamma_seconds_per_float, server.delta_seconds_per_float) for method in ("ring", "cps")
    )
    return [Found("saved, in per cent", round(100 * (1 - cps / ring)), 61)]


def _seconds(profile: Profile, gamma: Fraction, delta: Fraction) -> Fraction:
    return profile.additions * gamma + profile.accesses * delta


@CHECKS.register("gentree-fig5")
def groups_of_two_levels() -> list[Found]:
    """Fig. 5: 6x4 hierarchical co-located PS: groups of six, then groups of four that share no two of one group of six."""
    made = schedule_of("switch:24", "reduce-scatter", method="hierarchical-cps", factors="6x4")
    first, second = made.step == 0, made.step == 1
    inside = int((made.src[first] // 6 != made.dst[first] // 6).sum())
    across = int((made.src[second] % 6 != made.dst[second] % 6).sum())
    return [Found("steps", made.steps, 2), Found("transfers out of their group", inside + across, 0)]


@CHECKS.register("gentree-table4")
def speed_up_over_nccl() -> list[Found]:
    """Abstract and Table 4: 1.22 to 1.65 times as fast as NCCL; the ratios of the printed times."""
    ratios = [Fraction(theirs) / Fraction(ours) for ours, theirs in zip(_GENTREE, _NCCL, strict=True)]
    return [
        Found("least, to two digits", float(round(min(ratios), 2)).__str__(), "1.22"),
        Found("most", float(round(max(ratios), 2)).__str__(), "1.65"),
    ]


#: Table 4: milliseconds with 16, 32 and 64 GPUs, four sizes each
_GENTREE = ["0.764", "1.677", "5.058", "15.501", "0.842", "2.340", "7.030", "22.343", "0.971", "2.668", "8.093", "25.716"]
_NCCL = ["0.941", "2.695", "8.170", "25.606", "1.011", "3.163", "9.081", "27.978", "1.149", "3.243", "9.886", "31.049"]


@CHECKS.register("gentree-rearrangement")
def saved_by_rearrangement() -> list[Found]:
    """Section 5.3: rearrangement saves 54 to 60 % on CDC384, by the printed times of Table 7."""
    with_it, without = ("2.427", "8.299", "25.388"), ("4.484", "13.927", "43.116")
    saved = [round(100 * (1 - Fraction(one) / Fraction(other))) for one, other in zip(with_it, without, strict=True)]
    return [Found("least saved, per cent", min(saved), 54), Found("most", max(saved), 60)]


@CHECKS.register("gentree-table3")
def speed_ups_of_table_3() -> list[Found]:
    """Section 5.2: by the printed times of Table 3 up to 2.4 times as fast as the others, 1.2 times without RHD."""
    ours = [Fraction(time) for time in ("0.647", "0.620", "0.632")]
    others = {
        "cps": ("0.647", "0.660", "0.731"),
        "ring": ("0.719", "0.748", "0.758"),
        "rhd": ("0.736", "1.520", "1.521"),
    }
    most = {name: max(Fraction(time) / own for time, own in zip(times, ours, strict=True)) for name, times in others.items()}
    return [
        Found("most, to one digit", float(round(max(most.values()), 1)).__str__(), "2.4"),
        Found("without RHD", float(round(max(most["cps"], most["ring"]), 1)).__str__(), "1.2"),
    ]


@CHECKS.register("gentree-speed-ups")
def speed_ups_of_table_7() -> list[Found]:
    """Section 5.3: by the printed times of Table 7 the largest speed-up by size is 5.8 to 7.4, by network 4.9 to 7.4."""
    by_network = [
        max(Fraction(time) / Fraction(own) for own, *times in zip(own_times, *others, strict=True) for time in times)
        for own_times, *others in _TABLE_7
    ]
    sizes = [
        max(Fraction(other[size]) / Fraction(own_times[size]) for own_times, *others in _TABLE_7 for other in others)
        for size in range(3)
    ]
    return [
        Found("least by size", float(round(min(sizes), 1)).__str__(), "5.8"),
        Found("most by size", float(round(max(sizes), 1)).__str__(), "7.4"),
        Found("least by network", float(round(min(by_network), 1)).__str__(), "4.9"),
    ]


#: Table 7: seconds of GenTree, then of the others, by network; GenTree without rearrangement left out
_TABLE_7 = (
    (("0.203", "0.503", "1.404"), ("1.082", "1.376", "2.288"), ("0.203", "0.562", "1.673")),
    (("0.213", "0.507", "1.417"), ("0.337", "0.644", "1.593"), ("1.399", "1.697", "2.617"), ("0.223", "0.628", "1.879")),
    (("0.503", "1.287", "3.575"), ("2.943", "3.627", "5.742"), ("2.274", "7.132", "22.148")),
    (("0.639", "1.627", "4.638"), ("0.896", "1.853", "4.812"), ("3.571", "4.479", "7.285"), ("3.479", "10.989", "34.200")),
    (("0.570", "1.593", "4.670"), ("3.043", "3.947", "6.741"), ("2.052", "6.421", "19.925")),
    (("2.427", "8.299", "25.388"), ("8.513", "17.329", "44.580"), ("11.890", "37.799", "117.882")),
)
