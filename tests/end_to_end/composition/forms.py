"""A small schedule of each form: what it is, and how it is made."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import certree.api as ct
from certree.models.network.network_files import save_topology
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule
from tests.cli.running import certree
from tests.fuzz import forms as by_hand
from tests.verify.deadlock.routers import direct, small, switch_ring

DEMAND = "0,640,320,0\n0,0,160,160\n480,0,0,160\n160,160,160,0\n"


@dataclass(frozen=True)
class Form:
    """A form of schedules. `network`: its specification; a network without one is a file next to the schedule. `method`: as
    `compare` takes it, NAME:OPTION=VALUE; None where no method makes the form, and `make` does. `without_routers`: it runs without
    routers only, so that commands that have the option get it."""

    about: str
    network: str | None
    method: str | None
    collective: str = "all-reduce"
    root: int | None = None
    members: str | None = None
    demand: str | None = None
    size: str = "4KiB"
    without_routers: bool = False
    make: Callable[[], AnySchedule] | None = None

    def on(self, folder: Path) -> str:
        """The network, as a command takes it."""
        return self.network or str(folder / "net.json")

    def asked(self, folder: Path) -> list[str]:
        """The options that state the collective; the demand is a file in the folder."""
        words = ["--collective", self.collective]
        if self.root is not None:
            words += ["--root", str(self.root)]
        if self.members is not None:
            words += ["--members", self.members]
        if self.demand is not None:
            (folder / "demand.csv").write_text(self.demand)
            words += ["--demand", str(folder / "demand.csv")]
        return words

    @property
    def words(self) -> str:
        """Collective and network of the example."""
        among = "" if self.members is None else f" among {self.members}"
        return f"{self.collective}{among} on {'a ring of switches' if self.network is None else f'`{self.network}`'}"

    @property
    def unrouted(self) -> list[str]:
        """The option to run without routers, where it is needed."""
        return ["--without-routers"] if self.without_routers else []

    @property
    def sized(self) -> list[str]:
        """The size, as options; a demand states its own."""
        return [] if self.demand else ["--size", self.size]

    def write(self, folder: Path) -> Path:
        """The file of the schedule, with its certificate."""
        path = folder / "s.json"
        if self.make is not None:
            made = self.make()
            ct.save(made, folder / "bare.json")
            save_topology(made.topology, folder / "net.json")
            done = certree("certify", folder / "bare.json", "-o", path)
        else:
            name, *options = (self.method or "auto").split(":")
            chosen = [word for option in options for word in ("--option", option)]
            asked = [*self.asked(folder), "--method", name, *chosen, *self.sized]
            done = certree("synthesize", self.on(folder), *asked, "-o", path)
        if done.code:
            raise AssertionError(f"no schedule of this form: {done.err}")
        return path


#: the forms by name
FORMS = {
    "steps": Form("steps of an algorithm, one after the other", "mesh:2x2", "multitree"),
    "rounds": Form("steps of several rounds", "ring:4", "halving-doubling"),
    "repeats": Form("iterations that overlap in equal slots", "mesh:2x2", "retime", size="16KiB"),
    "routes": Form("routes through switches", "fattree:2x2", "multitree"),
    "boxes": Form("GPU boxes: wide links inside, narrow ones between", "h100:2", "boxes"),
    "half-speed": Form("links of half the speed", "mesh:2x2,link-capacity=0-1:1/2", "multitree"),
    "all-to-all": Form("a chunk for each pair of endpoints", "mesh:2x2", "flows", "all-to-all"),
    "broadcast": Form("one root, from which all chunks start", "mesh:2x3", "binomial", "broadcast", root=1),
    "gather": Form("one root, to which all chunks go", "mesh:2x2", "flows", "gather", root=1),
    "members": Form("a collective of some endpoints", "mesh:2x3", "ring", members="0,1,5"),
    "demand": Form("blocks of different sizes", "ring:4", "flows", "alltoallv", demand=DEMAND),
    "symmetric": Form("base transfers and a group", "torus:3x3", "symmetric"),
    "buffers": Form("several buffers for a node and chunk", "ring:4", None, "broadcast", root=0, make=by_hand.FORMS["buffers"]),
    "layers": Form(
        "routes in layers of virtual channels", None, None, make=lambda: direct(switch_ring(), small(vcs=4, flits=8), 4096)
    ),
    "reducing": Form("switches that add, in equal slots", "switch:4,reducing=switches", "netreduce"),
    "fine": Form("fine slots", "mesh:2x2", "two-shot"),
    "fine-widths": Form("fine slots on links of several widths", "mesh:2x2,link-capacity=0-1:2", "two-shot"),
    "fine-buffers": Form("fine slots, several buffers", "ring:4", "partial-sums"),
    "fine-members": Form("fine slots, some endpoints", "mesh:2x3", "chain", "broadcast", root=0, members="0,1,5"),
    "fine-repeats": Form(
        "fine slots, iterations that overlap", "ring:4", None, "broadcast", root=0, make=by_hand.FORMS["fine-repeats"]
    ),
    "fine-reducing": Form("fine slots, switches that add", "switch:4,reducing=switches", "in-switch"),
    "waits": Form(
        "fine slots, planned waits at routers; commands that have `--without-routers` get it",
        "fattree:2x2",
        "retime:of=ring,bidirectional=true:from=paced",
        size="64KiB",
        without_routers=True,
    ),
}
