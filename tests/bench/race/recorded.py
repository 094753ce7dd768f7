"""What other programs reached, measured with their public code: figures for `race` where no program is given."""

from dataclasses import dataclass

#: names of the peers
TACOS, FORESTCOLL, BOOKSIM, ASTRA = "TACOS", "ForestColl", "BookSim2", "ASTRA-sim"
#: commits of the public repositories that were run
COMMITS = {TACOS: "1811f1fb", FORESTCOLL: "3c13aee8", BOOKSIM: "28f43299", ASTRA: "not noted"}
#: simulated cycles for which the seconds of routers are stated
CYCLES = 20_000
_NOW, _BEFORE = "30 November 2026", "26 November 2026 or before, commit not noted"


@dataclass(frozen=True)
class Figure:
    """A `peer`'s result on a `network`: time over its bound, mean latency in cycles, or ns (`quality`), and its user `seconds` on
    one of two cores that others used; None: not measured. `traffic`: flits of a packet and load in tenths, of a simulation. `date`:
    when it was measured."""

    peer: str
    network: str
    quality: float | None
    seconds: float | None
    traffic: tuple[int, int] | None = None
    date: str = _NOW

    @property
    def source(self) -> str:
        """When it was measured, with which commit."""
        return self.date if self.date == _BEFORE else f"{self.date}, commit {COMMITS[self.peer]}"


FIGURES = (
    # all-gathers: rounds over their bound, with one chunk an endpoint
    Figure(TACOS, "torus:6x8", 13 / 12, 0.0),
    Figure(TACOS, "torus:8x8", 17 / 16, 0.0),
    Figure(TACOS, "torus:5x13", 18 / 16, 0.0),
    Figure(TACOS, "torus:8x9", 19 / 18, 0.0),
    Figure(TACOS, "torus:8x12", 25 / 24, 0.0),
    Figure(TACOS, "torus:8x16", 33 / 32, 0.1),
    Figure(TACOS, "torus:10x13", 33 / 33, 0.1),
    Figure(TACOS, "torus:16x16", 65 / 64, 1.0),
    Figure(TACOS, "torus:15x20", 76 / 75, 1.6),
    Figure(TACOS, "torus:8x8x8", 86 / 86, 8.7),
    Figure(TACOS, "torus:32x32", 258 / 256, 55.0, None, _BEFORE),
    # all-gathers: rounds at the rate of the trees over their bound; no schedule
    Figure(FORESTCOLL, "torus:6x8", 1.0, 40.6),
    Figure(FORESTCOLL, "torus:8x8", 1.0, 59.0, None, _BEFORE),
    # mean latency of packets, uniform traffic
    Figure(BOOKSIM, "mesh:8x8", 38.10, 8.0, (1, 3)),
    Figure(BOOKSIM, "mesh:8x8", 102.56, 4.8, (17, 3)),
    Figure(BOOKSIM, "torus:8x8", 55.83, 2.3, (17, 2)),
    # all-reduce of 64 MiB at 50 GiB/s and 500 ns: ns of the ring in one direction, 64 chunks in flight, analytical
    Figure(ASTRA, "ring:16", 2_342_902.0, 0.13, None, _BEFORE),
)


def recorded(peer: str, network: str, traffic: tuple[int, int] | None = None) -> Figure | None:
    """The figure of a peer on a network, None without one."""
    return next((one for one in FIGURES if (one.peer, one.network, one.traffic) == (peer, network, traffic)), None)
