"""Checks of the ACE paper."""

from fractions import Fraction

import numpy as np

import certree.api as ct
from certree.extras.endpoints.model.endpoint import load_endpoint
from certree.extras.papers.scorecard.check import CHECKS, Found, schedule_of, yes
from certree.extras.training.model.workload import Phase
from certree.extras.training.model.workload_file import load_workload
from certree.models.schedule.schedule_columns import Op

MEBI = 1 << 20


@CHECKS.register("ace-fig2")
def all_reduce_is_two() -> list[Found]:
    """Fig. 2: an all-reduce is a reduce-scatter followed by an all-gather. Checked on the transfers of a ring."""
    whole = schedule_of("ring:4", method="ring")
    parts = [schedule_of("ring:4", kind, method="ring").transfers for kind in ("reduce-scatter", "all-gather")]
    first = int(whole.step[whole.op == Op.COPY].min())
    return [
        Found("transfers", whole.transfers, sum(parts)),
        Found("sums after the first copy", int((whole.step[whole.op == Op.REDUCE] >= first).sum()), 0),
    ]


@CHECKS.register("ace-fig7")
def walk_through() -> list[Found]:
    """Fig. 7 and Section 4.2: a ring of three nodes: two steps of sums, two of copies; ACE loads and returns each byte once."""
    ring = schedule_of("ring:3", method="ring")
    ops = [sorted({*ring.op[ring.step == step].tolist()}) for step in range(ring.steps)]
    return [Found("operations by step, 0 sum, 1 copy", str(ops), "[[0], [0], [1], [1]]")]


@CHECKS.register("ace-table4")
def granularities() -> list[Found]:
    """Table 4: chunks of 64 KB, messages of 4 KB, packets of 256 bytes; Section 5 has the message again."""
    endpoint = load_endpoint("ace")
    system = endpoint.system("ace")
    return [
        Found("bytes of a chunk", system.chunk_bytes, 65_536),
        Found("bytes of a message", str(system.message_bytes), "4096"),
        Found("bytes of a packet", endpoint.interface.packet_bytes, 256),
    ]


@CHECKS.register("ace-table5")
def phases() -> list[Found]:
    """Table 5: reduce-scatter in L, all-reduce in V and in H, all-gather in L on a torus; a direct all-reduce across switches."""
    torus = schedule_of("ace-torus:4x2x3", method="hierarchical")
    alltoall = schedule_of("ace-alltoall:4x6", method="hierarchical")
    distances = [_distances(torus.src[torus.step == step], torus.dst[torus.step == step]) for step in range(torus.steps)]
    paper = ["1", "1", "1", "12", "12", "4", "4", "4", "4", "1", "1", "1"]
    return [
        Found("stride of each step on ace-torus:4x2x3", " ".join(distances), " ".join(paper)),
        Found("steps on ace-alltoall:4x6", alltoall.steps, 3 + 2 + 3),
    ]


def _distances(src: np.ndarray, dst: np.ndarray) -> str:
    """The smallest distance of numbers of nodes in a step."""
    return str(int(np.abs(dst - src).min()))


@CHECKS.register("ace-table6")
def area_and_power() -> list[Found]:
    """Table 6: four ALUs, control unit, SRAM and crossbar add up to 5,339,031 square micrometres and 4,255 mW."""
    endpoint = load_endpoint("ace")
    return [
        Found("square micrometres", endpoint.square_micrometres, 5_339_031),
        Found("mW, rounded", round(endpoint.watts * 1000), 4255),
    ]


@CHECKS.register("ace-table7")
def parameters() -> list[Found]:
    """Table 7: bandwidths, latencies and efficiencies of links and buses."""
    endpoint = load_endpoint("ace")
    inside, between, buses = endpoint.intra_package, endpoint.inter_package, endpoint.buses
    return [
        Found("bytes a second inside a package", inside.bytes_per_second, 200 * 10**9),
        Found("between packages", between.bytes_per_second, 25 * 10**9),
        Found("latency inside, cycles", inside.latency_cycles, 90),
        Found("between", between.latency_cycles, 200),
        Found("efficiency", str({inside.efficiency, between.efficiency}), str({Fraction(47, 50)})),
        Found("bus to the interface", buses.interface_bytes_per_second, 500 * 10**9),
        Found("memory bus", buses.memory_bytes_per_second, 900 * 10**9),
    ]


@CHECKS.register("ace-systems")
def shares() -> list[Found]:
    """Section 5: baseline takes 5 % of compute and 20 % of memory bandwidth, ACE 5 % of memory bandwidth."""
    baseline, ace = (load_endpoint("ace").system(name) for name in ("baseline", "ace"))
    return [
        Found("baseline, compute", baseline.compute_share, Fraction(5, 100)),
        Found("baseline, memory", baseline.memory_share, Fraction(20, 100)),
        Found("ACE, memory", ace.memory_share, Fraction(5, 100)),
    ]


@CHECKS.register("ace-engine")
def engine() -> list[Found]:
    """Section 6: 4 x 1 MB of SRAM, 16 state machines, 4 ALUs of 16 FP32 units."""
    engine = load_endpoint("ace").engine
    return [
        Found("bytes of SRAM", engine.sram_bytes, 4 * MEBI),
        Found("state machines", engine.state_machines, 16),
        Found("bytes that the ALUs add in a cycle", engine.alus * engine.alu_bytes, 4 * 16 * 4),
    ]


@CHECKS.register("ace-compute")
def peak_of_compute() -> list[Found]:
    """Section 5: 256 x 256 multiply-adds at 700 MHz are about 91.5 TFLOPS a node."""
    accelerator = load_endpoint("ace").accelerator
    flops = 2 * accelerator.adders * accelerator.clock_hertz / 10**12
    return [Found("TFLOPS, to one digit", float(round(flops, 1)).__str__(), "91.5")]


@CHECKS.register("ace-all-to-all-steps")
def steps_of_all_to_all() -> list[Found]:
    """Section 5: a ring-based all-to-all of N nodes takes N - 1 steps, each to the node at distance s in one step."""
    one_way = schedule_of("ring:8", "all-to-all", method="ring-all-to-all")
    return [Found("steps of one hop with 8 nodes", one_way.steps, 7)]


@CHECKS.register("ace-abstract")
def abstract_and_section() -> list[Found]:
    """Abstract: 1.53 and 1.21 times; the means of Section 6 over both platforms, (1.51 + 1.55)/2 and (1.22 + 1.20)/2."""
    means = [(Fraction(one) + Fraction(other)) / 2 for one, other in (("1.51", "1.55"), ("1.22", "1.20"))]
    return [Found("all-reduce", means[0], Fraction("1.53")), Found("all-to-all", means[1], Fraction("1.21"))]


@CHECKS.register("ace-utilization")
def utilization() -> list[Found]:
    """Section 6: 74.6 % over 37.8 % of ideal's utilization is the improvement of 1.97 times."""
    return [Found("ratio, to two digits", float(round(Fraction("74.6") / Fraction("37.8"), 2)).__str__(), "1.97")]


@CHECKS.register("ace-epoch")
def epoch() -> list[Found]:
    """Section 6: 9 ms an iteration are 61.5 s an epoch of ImageNet with 32 samples on each of 64 NPUs."""
    seconds = Fraction(1_280_000, 32 * 64) * Fraction("0.009")
    return [Found("seconds, to one digit", float(round(seconds, 1)).__str__(), "61.5")]


@CHECKS.register("ace-cores")
def cores_for_the_links() -> list[Found]:
    """Section 3: cores that read 64 bytes a clock at 1 GHz, 2 bytes for each byte of 100 GB/s: 4 saturate the links."""
    return [Found("cores", -(-2 * 100 // 64), 4)]


@CHECKS.register("ace-topologies")
def networks() -> list[Found]:
    """Fig. 8: on ace-torus:4x4x4 and ace-alltoall:4x16 each NPU has two links inside its package and four outside."""
    found = []
    for name in ("ace-torus:4x4x4", "ace-alltoall:4x16"):
        network = ct.topology(name)
        out = network.src == int(network.endpoints[0])
        found.append(Found(f"links of an NPU, {name}", int(out.sum()), 6))
    return found


#: Table 3: milliseconds and per cent of the network, with 1, 2, 4, 8 and 16 cores
TABLE_3 = (("89.8", 17), ("45.1", 34), ("22.2", 70), ("18.4", 84), ("18.0", 86))
RESNET_PARAMETERS = 25_557_032


@CHECKS.register("ace-table3")
def cores_of_skylakes() -> list[Found]:
    """Table 3: one time at the full rate for all rows, that of ResNet-50 on a ring of 32 at 12.5 GB/s, and cores in proportion."""
    half = Fraction(1, 2)
    low = max(Fraction(time) * (share - half) / 100 for time, share in TABLE_3)
    high = min(Fraction(time) * (share + half) / 100 for time, share in TABLE_3)
    ring = Fraction(31, 16) * 4 * RESNET_PARAMETERS / Fraction("12.5e6")
    words = f"{float(low):.2f} to {float(high):.2f} ms"
    return [
        Found(f"one time at the full rate fits all rows ({words})", yes(low <= high), "yes"),
        Found(f"the ring's is in it ({float(ring):.2f} ms)", yes(low <= ring <= high), "yes"),
        *[Found(f"per cent with {cores} cores, those of one core in proportion", min(17 * cores, 86), share)
          for cores, (_, share) in zip((2, 4, 8), TABLE_3[1:4], strict=True)],
    ]  # fmt: skip


@CHECKS.register("ace-fig3")
def beside_the_stream_benchmark() -> list[Found]:
    """Section 3, Fig. 3: NCCL's all-reduce takes twice as long on a DGX-1 next to computing that asks for all of the memory bus."""
    made = ct.synthesize("dgx1", method="packing", size=4 * MEBI, machine="a100")  # NVLinks of 25 GB/s
    alone, beside = (
        ct.simulate(made, run="paced", endpoint="baseline", computing=share, without_routers=True).cycles for share in ("0", "1")
    )
    return [Found("times as long, to one digit", float(round(Fraction(beside, alone), 1)).__str__(), "2.0")]


@CHECKS.register("ace-fig3-bus")
def shares_of_the_memory_bus() -> list[Found]:
    """Section 3: Stream loses 19 % next to an all-reduce that takes twice as long, so alone the all-reduce has 38 % of the bus.

    Here: a ring receives at 6 NVLinks of 25 GB/s; a sum takes two reads and a write, a copy a read and a write, 900 GB/s in all.
    """
    alone = Fraction(6 * 25 * 5, 2 * 900)
    return [Found("per cent of the bus alone", round(100 * alone), 2 * 19)]


@CHECKS.register("ace-table2")
def payloads_by_parallelism() -> list[Found]:
    """Table 2, by workloads of ASTRA-sim: which of activations, input and weight gradients are exchanged."""
    paper = {
        "astra-resnet50": (Phase.WEIGHT_GRADIENT,),
        "astra-mlp-model": (Phase.FORWARD, Phase.INPUT_GRADIENT),
        "astra-mlp-hybrid": (Phase.FORWARD, Phase.INPUT_GRADIENT, Phase.WEIGHT_GRADIENT),
    }
    found = []
    for name, phases in paper.items():
        layers = load_workload(name).layers
        ours = [phase for phase in Phase if any(layer.part(phase).communication for layer in layers)]
        found.append(Found(f"what {name} exchanges", ", ".join(sorted(ours)), ", ".join(sorted(phases))))
    return found


@CHECKS.register("ace-overhead")
def shares_of_an_accelerator() -> list[Found]:
    """Section 6: less than 2 % of an accelerator's area and power, here of a V100's 815 mm^2 and 300 W (NVIDIA's data sheet)."""
    endpoint = load_endpoint("ace")
    shares = Fraction(endpoint.square_micrometres, 815 * 10**6), Fraction(endpoint.watts) / 300
    words = ", ".join(f"{float(100 * share):.2f} %" for share in shares)
    return [Found(f"less than 2 % of a V100's 815 mm^2 and 300 W ({words})", yes(max(shares) < Fraction(2, 100)), "yes")]
