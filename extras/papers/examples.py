"""Examples of `certree gallery`: one or two from each paper, small enough to draw in full."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Example:
    """A network, a method and a description. `slug` names the folder."""

    slug: str
    title: str
    source: str
    text: str
    topology: str
    method: str
    collective: str = "all-reduce"
    options: Mapping[str, str] = field(default_factory=dict)
    chunks: int | None = None

    @property
    def command(self) -> str:
        """The command that makes the same schedule."""
        options = "".join(f" --option {name}={value}" for name, value in self.options.items())
        options += "" if self.chunks is None else f" --chunks {self.chunks}"
        collective = "" if self.collective == "all-reduce" else f" --collective {self.collective}"
        return f"certree synthesize {self.topology}{collective} --method {self.method}{options} --size {SIZE}"


SIZE = "64KiB"

EXAMPLES = (
    Example(
        "ring",
        "The ring",
        "Patarasuk and Yuan, bandwidth optimal all-reduce (2009); Figure 1 of the MultiTree paper",
        "Every chunk travels once round the circle while sums are added up, and once more while the sum is handed on: 2(N - 1)"
        " steps,"
        " each of which uses every link of one direction. The other direction stays idle, which costs half of the bandwidth.",
        "ring:4",
        "ring",
    ),
    Example(
        "multitree",
        "MultiTree on a 2x2 mesh",
        "MultiTree (ISCA 2021), Figures 3 and 5",
        "One tree for each node, all grown together, a link at a time. On four nodes in a square both phases take two steps.",
        "mesh:2x2",
        "multitree",
    ),
    Example(
        "double-binary-tree",
        "Two trees on a mesh, as published",
        "Sanders, Speck and Träff, two-tree algorithms (2009)",
        "Written for ranks, not for this network: some of its messages meet on the links of a mesh. The verifier names them"
        " (framed red"
        " in the picture) and says how many rounds the same transfers need when they take turns.",
        "mesh:3x3",
        "double-binary-tree",
        options={"rounds": "published"},
    ),
    Example(
        "hdrm",
        "Halving-doubling with rank mapping on a BiGraph",
        "EFLOPS (HPCA 2020)",
        "Partners always hang on different sides of the two rows of switches, so every exchange crosses once, and no two share"
        " a cable.",
        "bigraph:2x4",
        "hdrm",
    ),
    Example(
        "switch-fc",
        "Whole vectors through local switches",
        "Co-designing the topology and algorithm (switch-based full connection), Figure 7",
        "Each of four nodes sends its whole vector to the next one, then its sum to the one after: log2 N steps, each local switch"
        " carrying a part. Fewest steps, but the whole vector in each.",
        "switch-fc:4x4",
        "switch-fc",
    ),
    Example(
        "switch-fc-printed",
        "The same for sixteen nodes, by the printed formula",
        "Co-designing the topology and algorithm, Section III-B",
        "The text sends to rank i + 2(S - 1) in step S. That is i + 6 in the fourth step, where i + 8 is needed: some contributions"
        " are counted twice and others never arrive. The verifier finds the first of them.",
        "switch-fc:16x1",
        "switch-fc",
        options={"formula": "printed"},
    ),
    Example(
        "switch-fc-all-to-all",
        "All-to-all through one local switch",
        "Co-designing the topology and algorithm, Figure 5",
        "In step s every node sends to the node s places further: N - 1 steps, where a one-way ring needs N(N - 1) / 2.",
        "switch-fc:4x1",
        "switch-fc",
        collective="all-to-all",
    ),
    Example(
        "gentree",
        "A plan for an asymmetric tree",
        "GenTree and GenModel, Figures 6b and 7b",
        "Three servers on one switch, four on the other. Each switch first reduces among its own, then the root's children exchange"
        " what they hold, unequal shares and all; the copies go back the same way.",
        "tree:3+4",
        "gentree",
    ),
    Example(
        "ace",
        "Hierarchical all-reduce on a torus of packages",
        "ACE, the accelerator collectives engine, Tables 5 and 7",
        "Reduce-scatter inside packages of wide links, all-reduce along the rows and then the columns of packages, all-gather"
        " inside.",
        "ace-torus:2x2x2",
        "hierarchical",
    ),
    Example(
        "ace-all-to-all",
        "Hierarchical all-to-all on packages with global switches",
        "ACE, the accelerator collectives engine, Table 5",
        "First inside packages, then across them through the four global switches; every block is sent at most twice.",
        "ace-alltoall:2x2",
        "hierarchical-all-to-all",
        collective="all-to-all",
    ),
    Example(
        "blueconnect",
        "Ring reduce-scatters, dimension by dimension",
        "BlueConnect (SysML 2019); the hierarchical torus of the switch-fc paper",
        "Each further dimension handles a smaller share, so that slow links carry little.",
        "hier-torus:2x2x2",
        "blueconnect",
    ),
    Example(
        "tencent",
        "Masters of groups",
        "Tencent's hierarchical all-reduce, in the appendix of NetReduce",
        "The members of a group reduce to their first node, the masters form a ring, and each hands the sum to its group.",
        "tree:2x4",
        "tencent",
    ),
    Example(
        "netreduce",
        "Sums made in the switches",
        "NetReduce, with its in-network aggregation against the ring",
        "Everyone sends its vector once, the switches add up towards the root of the tree and multicast the sum"
        " back: half of what a ring sends, in chunks that follow each other.",
        "tree:2x3,reducing=switches",
        "netreduce",
        chunks=3,
    ),
    Example(
        "sccl",
        "All-gather on a DGX-1 in the fewest steps",
        "SCCL (PPoPP 2021)",
        "Two steps are the diameter; found by search, and bounded below by the distance.",
        "dgx1",
        "exact",
        collective="all-gather",
    ),
    Example(
        "packing",
        "Spanning trees packed into a mesh",
        "the theory of this project: Tutte and Nash-Williams",
        "Trees that use each link equally, repeated over and over: the bandwidth bound is met, which no reduce-scatter with"
        " equal shares"
        " can do on a mesh. The picture is one iteration; the next begins before it ends.",
        "mesh:3x3",
        "packing",
        options={"rate": "optimal"},
    ),
)
