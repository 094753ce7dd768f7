"""Checks of the MultiTree paper (ISCA 2021)."""

from fractions import Fraction

import numpy as np

import certree.api as ct
from certree.extras.flits.model.flit_format import FlitType
from certree.extras.papers.scorecard.check import CHECKS, Found, schedule_of, yes
from certree.hw.tables.lowering import lower
from certree.models.fine.timed_schedule import timed
from certree.models.machine.machine import load_machine
from certree.models.network.spec import parse_topology
from certree.models.tables.table_columns import RowOp

#: Fig. 9: tori, meshes, fat trees, BiGraphs
NETWORKS = ("torus:4x4", "torus:8x8", "mesh:4x4", "mesh:8x8", "fattree:4x4", "fattree:8x8", "bigraph:4x8", "bigraph:4x16")


@CHECKS.register("multitree-fig1")
def ring_of_four() -> list[Found]:
    """Fig. 1: three iterations of reduce-scatter and three of all-gather; segment 0 begins at node 1 and ends at node 0."""
    ring = schedule_of("ring:4", method="ring")
    first = (ring.chunk == 0) & (ring.step < 3)
    path = [*ring.src[first].tolist(), int(ring.dst[first][-1])]
    return [Found("steps of reduce-scatter and all-gather", ring.steps, 6), Found("path of segment 0", str(path), "[1, 2, 3, 0]")]


@CHECKS.register("multitree-fig3")
def trees_of_the_mesh() -> list[Found]:
    """Fig. 3: on a mesh of 2x2 eight links are used in step 1 and four nodes are added in step 2."""
    made = schedule_of("mesh:2x2", "all-gather", method="multitree")
    counts = np.bincount(made.step).tolist()
    last = [int(column[made.step == 0][-1]) for column in (made.src, made.dst, made.chunk)]
    return [
        Found("links used by step", str(counts), "[8, 4]"),
        Found("last link of step 1, from, to, in tree", str(last), "[3, 2, 3]"),
    ]


@CHECKS.register("multitree-fig4")
def ring_and_double_tree_of_the_mesh() -> list[Found]:
    """Fig. 4: the ring's all-gather takes a step more than MultiTree's; an edge of the double binary tree crosses two links."""
    steps = {method: schedule_of("mesh:2x2", "all-gather", method=method).steps for method in ("ring", "multitree")}
    tree = schedule_of("mesh:2x2", method="double-binary-tree")
    return [
        Found("steps that the ring takes more", steps["ring"] - steps["multitree"], 1),
        Found("longest route of the double binary tree", max(map(len, tree.routes), default=1), 2),
    ]


@CHECKS.register("multitree-table1")
def bandwidth_optimal() -> list[Found]:
    """Table I: optimal bandwidth for large data, here against the proved bound on two networks."""
    return [_over_bound("torus:4x4"), _over_bound("mesh:8x8")]


def _over_bound(network: str) -> Found:
    made = ct.certify(schedule_of(network, method="multitree"))
    bound = ct.bound(network).bandwidth
    words = (
        f"bandwidth time over the bound, {network} ({made.bandwidth_time} of the message over the busiest link, {bound} at least)"
    )
    return Found(words, made.bandwidth_time / bound, 1)


@CHECKS.register("multitree-table2")
def flit_types() -> list[Found]:
    """Table II: the codes of flits of normal packets and of sub-packets."""
    paper = {
        "HEAD": "100", "BODY": "101", "TAIL": "110", "HEAD_TAIL": "111",
        "MESSAGE_HEAD": "000", "MESSAGE_BODY": "001", "SUB_TAIL": "010", "MESSAGE_TAIL": "011",
    }  # fmt: skip
    return [Found(f"code of {name}", f"{FlitType[name]:03b}", code) for name, code in paper.items()]


@CHECKS.register("multitree-table3")
def configuration() -> list[Found]:
    """Table III: the parameters of the machine `multitree`."""
    machine = load_machine("multitree")
    return [
        Found("bytes a second of a link", machine.flit_bytes * machine.clock_hz, 16 * 10**9),
        Found("cycles of a link of 150 ns at 1 GHz", machine.link_latency_cycles, 150),
        Found("virtual channels", machine.vc_count, 4),
        Found("flits of a buffer", machine.vc_buffer_flits, 318),
        Found("bytes of payload", machine.packet_payload_bytes, 256),
    ]


@CHECKS.register("multitree-algorithm1")
def reversed_trees() -> list[Found]:
    """Algorithm 1, lines 16 to 18: the reduce-scatter is the all-gather reversed, step t at tot_t - t + 1."""
    made = schedule_of("torus:4x4", method="multitree")
    rows = np.stack([made.chunk, made.src, made.dst, made.step])
    half = made.steps // 2
    sums, copies = rows[:, made.step < half], rows[:, made.step >= half]
    back = copies[[0, 2, 1, 3]].copy()
    back[3] = made.steps - 1 - back[3]
    unequal = len({*map(tuple, sums.T.tolist())} ^ {*map(tuple, back.T.tolist())})
    roots = {(int(chunk), int(src)) for chunk, src in copies[:2].T if chunk == src}
    return [
        Found("rows of the reduce-scatter that are no reversed row of the all-gather", unequal, 0),
        Found("trees that begin at their own node", len(roots), 16),
    ]


@CHECKS.register("multitree-complexity")
def edges_examined() -> list[Found]:
    """Section III-C2: Algorithm 1 examines O(V^2 E) edges, counted here by a plain implementation on four tori."""
    counted = [Fraction(_examined(f"torus:{side}x{side}"), side**4 * 4 * side**2) for side in (4, 6, 8, 10)]
    words = ", ".join(f"{float(share):.3f}" for share in counted)
    return [Found(f"edges examined over V^2 E, at most 1 on 16, 36, 64 and 100 nodes ({words})", yes(max(counted) <= 1), "yes")]


def _examined(network: str) -> int:
    """Edges that lines 4 to 14 of Algorithm 1 examine: each node of a tree tries all its edges until one is free and leads on."""
    links = parse_topology(network)
    edges: dict[int, list[int]] = {}
    for src, dst in zip(links.src.tolist(), links.dst.tolist(), strict=True):
        edges.setdefault(src, []).append(dst)
    trees, examined = [[node] for node in edges], 0
    while any(len(tree) < len(edges) for tree in trees):
        free = {node: list(out) for node, out in edges.items()}
        known, grows = [len(tree) for tree in trees], True
        while grows:
            grows = False
            for number, tree in enumerate(trees):
                for node in tree[: known[number]]:
                    child = next((one for one in free[node] if one not in tree), None)
                    examined += len(free[node]) if child is None else free[node].index(child) + 1
                    if child is not None:
                        free[node].remove(child)
                        tree.append(child)
                        grows = True
                        break
    return examined


@CHECKS.register("multitree-strong-scaling")
def strong_scaling() -> list[Found]:
    """Section VI-B: times vary little with more nodes. Here they vary by at most a tenth, as in Fig. 11, for 32 MiB, on 256 nodes
    compared with 16 and with 64. Behind the cycles the change of what the busiest link carries."""
    found = []
    for method in ("ring", "ring-2d", "multitree"):
        made = {side: schedule_of(f"torus:{side}x{side}", method=method) for side in (4, 8, 16)}
        cycles = {side: timed(one, 32 << 20, load_machine("multitree")).cycles for side, one in made.items()}
        for few in (4, 8):
            change = Fraction(cycles[16], cycles[few]) - 1
            load = Fraction(made[16].bandwidth_time) / Fraction(made[few].bandwidth_time) - 1
            words = f"{float(100 * change):+.1f} %, link {float(100 * load):+.1f} %"
            what = f"{method} from {few * few} nodes on by at most a tenth ({words})"
            found.append(Found(what, yes(abs(change) <= Fraction(1, 10)), "yes"))
    return found


@CHECKS.register("multitree-fig5")
def tables_of_the_mesh() -> list[Found]:
    """Fig. 5: the readable columns of the tables of accelerator 0: operation, flow, parent, in the order of the rows."""
    tables = lower(schedule_of("mesh:2x2", method="multitree"), 4096, load_machine("multitree"))
    here = tables.node == 0
    rows = [f"{RowOp(op).name} {flow} {parent if parent >= 0 else 'nil'}" for op, flow, parent in
            zip(*(getattr(tables, name)[here].tolist() for name in ("op", "flow", "parent")), strict=True)]  # fmt: skip
    return [Found("rows", ", ".join(rows), "REDUCE 3 1, REDUCE 1 1, REDUCE 2 2, GATHER 0 nil, GATHER 2 2")]


@CHECKS.register("multitree-abstract")
def reduced_training_time() -> list[Found]:
    """Abstract: a reduction of training time by 81 %; Section VI-C has an improvement by 81 %, a reduction by 45 %."""
    return [Found("reduction in per cent of what is 81 % faster", round(100 * (1 - Fraction(100, 181))), 81)]


@CHECKS.register("multitree-one-hop")
def one_hop() -> list[Found]:
    """Section III-B: each edge of a tree is one link, here on a torus and a mesh of 8x8."""
    made = [schedule_of(network, method="multitree") for network in ("torus:8x8", "mesh:8x8")]
    return [Found("transfers over more than one link", sum(len(one.routes) for one in made), 0)]


@CHECKS.register("multitree-contention-free")
def contention_free() -> list[Found]:
    """Section III: no link carries two messages at a time, on the eight networks of Fig. 9."""
    found = []
    for network in NETWORKS:
        made = schedule_of(network, method="multitree")
        found.append(
            Found(f"valid without shared links, {network}", yes(ct.verify(made).valid and (made.rounds == 1).all()), "yes")
        )
    return found


@CHECKS.register("multitree-steps-of-the-ring")
def steps_of_the_ring() -> list[Found]:
    """Section VI-A: on fat trees and BiGraphs MultiTree and the ring take the same number of steps."""
    return [
        Found(f"steps on {network}", *(_steps(network, method) for method in ("multitree", "ring"))) for network in NETWORKS[4:]
    ]


@CHECKS.register("multitree-hdrm-steps")
def steps_of_hdrm() -> list[Found]:
    """Section VI-A: HDRM takes fewer steps than MultiTree on both BiGraphs."""
    return [
        Found(f"HDRM takes fewer steps on {network}", yes(_steps(network, "hdrm") < _steps(network, "multitree")), "yes")
        for network in NETWORKS[6:]
    ]


@CHECKS.register("multitree-2d-ring-data")
def data_of_2d_rings() -> list[Found]:
    """Section I: on a torus of NxN a 2D-ring moves 2N(N - 1) data where the ring moves N^2 - 1."""
    made = {method: schedule_of("torus:8x8", method=method) for method in ("ring-2d", "ring")}
    moved = {method: Fraction(one.transfers, 2 * one.chunks) for method, one in made.items()}
    return [Found("2D-ring, shares of N^2 that a phase moves", moved["ring-2d"], 2 * 8 * 7), Found("ring", moved["ring"], 63)]


@CHECKS.register("multitree-tables")
def size_of_tables() -> list[Found]:
    """Section V-A: two rows for each node, of 200 bits, 3.2 KB for 64 nodes."""
    rows = {network: _most_rows(network) for network in ("torus:8x8", "mesh:8x8")}
    return [
        Found("at most 128 rows on torus:8x8", yes(rows["torus:8x8"] <= 128), "yes"),
        Found("at most 128 rows on mesh:8x8", "yes" if rows["mesh:8x8"] <= 128 else f"{rows['mesh:8x8']} rows", "yes"),
        Found("bytes of 128 rows of 200 bits", 128 * 200 // 8, 3200),
    ]


@CHECKS.register("multitree-special-cases")
def special_cases() -> list[Found]:
    """Section VII-A: ring and butterfly are the trees with k = 1 on a ring and with k = 2 on a hypercube with links wide enough."""
    steps = [
        schedule_of(network, "all-gather", method="multitree", k=k).steps
        for network, k in (("ring:16", "1"), ("hypercube:4,capacity=16", "2"))
    ]
    return [Found("steps with k = 1 on 16 nodes", steps[0], 15), Found("steps with k = 2 on 16 nodes", steps[1], 4)]


@CHECKS.register("multitree-diameter")
def no_fewer_than_the_diameter() -> list[Found]:
    """Section VII-C: the number of steps is limited by the diameter, here on two tori."""
    return [
        Found(f"at least the diameter on {network}", yes(_steps(network, "multitree", "all-gather") >= diameter), "yes")
        for network, diameter in (("torus:4x4", 4), ("torus:8x8", 8))
    ]


@CHECKS.register("multitree-deadlock")
def without_deadlock() -> list[Found]:
    """Section IV-B: messages to neighbours do not add the risk of a deadlock, here by a numbering of channels."""
    return [
        Found(
            "free of deadlock through routers, torus:4x4",
            yes(ct.deadlock(schedule_of("torus:4x4", method="multitree")).free),
            "yes",
        )
    ]


@CHECKS.register("multitree-link-use")
def link_use_of_a_ring() -> list[Found]:
    """Section I: a ring uses 25 % of the links of a 4x4 torus."""
    ring = schedule_of("torus:4x4", method="ring")
    used = len({*zip(ring.src.tolist(), ring.dst.tolist(), strict=True)})
    return [Found("links used, of all", Fraction(used, len(ring.topology.src)), Fraction(1, 4))]


def _steps(network: str, method: str, collective: str = "all-reduce") -> int:
    return schedule_of(network, collective, method=method).steps


def _most_rows(network: str) -> int:
    """The number of rows of the node that has most."""
    tables = lower(schedule_of(network, method="multitree"), 1 << 20, load_machine("multitree"))
    return int(np.bincount(tables.node).max())
