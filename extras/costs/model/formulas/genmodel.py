"""GenModel: the cost of an all-reduce with incast and memory access (GenTree, Section 3.3)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from certree.extras.costs.model.cost_model import COST_MODELS, Cost, Term, load_parameters
from certree.extras.costs.model.counting import Counts
from certree.extras.costs.model.link_kinds import LinkKind
from certree.extras.costs.model.profile import Level, Server
from certree.models.common.errors import InputError

FLOAT_BYTES = 4  # the paper counts data in floats


@COST_MODELS.register("genmodel")
@dataclass(frozen=True)
class GenModel:
    """Start-up, bandwidth, addition, memory access and incast (GenTree, Equation 11).

    The parameters of a cluster: its servers, and the links to servers (`middle`), between switches (`root`) and between the top
    switches of two trees (`cross`); the latter two only where they are known.
    """

    name: str
    server: Server
    middle: Level
    root_level: Level | None = field(default=None, metadata={"field": "root"})
    cross_level: Level | None = field(default=None, metadata={"field": "cross"})

    def level(self, kind: LinkKind) -> Level:
        """The parameters of a kind of links; InputError where the file has none."""
        table, found = {
            LinkKind.SERVER: ("middle", self.middle),
            LinkKind.SWITCH: ("root", self.root_level),
            LinkKind.CROSS: ("cross", self.cross_level),
        }[kind]
        if found is None:
            where = "between switches" if kind is LinkKind.SWITCH else "between the top switches of two trees"
            raise InputError(f"GenModel parameters {self.name!r} have no table [{table}], for the links {where} of this network")
        return found

    @property
    def root(self) -> Level:
        """The links between switches; InputError where the file has none."""
        return self.level(LinkKind.SWITCH)

    @property
    def cross(self) -> Level:
        """The links between the top switches of two trees; InputError where the file has none."""
        return self.level(LinkKind.CROSS)

    def start_seconds(self, middle: int, root: int, cross: int) -> Fraction:
        """Start-up of a transfer: both servers, and the switches and cross links on its route (`counting.switches_passed`)."""
        switches = middle * self.middle.alpha_seconds
        switches += root * self.root.alpha_seconds if root else 0
        switches += cross * self.cross.alpha_seconds if cross else 0
        return 2 * self.server.alpha_seconds + switches

    def cost(self, counts: Counts, message_bytes: int) -> Cost:
        """Each step takes the start-up of both servers and the switches on its longest route, then the time of its slowest link
        (Equation 10), and then that of its slowest server.

        The beta of a kind is that of its narrowest links, wider ones take less. Where a network has one kind of links and all
        servers do the same this is Equation 11. O(entries of `counts`).
        """
        if message_bytes < counts.endpoints * FLOAT_BYTES:
            raise InputError(
                f"a message of {message_bytes} bytes leaves servers without data: {counts.endpoints} servers share at least"
                f" {counts.endpoints} floats, {counts.endpoints * FLOAT_BYTES} bytes"
            )
        floats = Fraction(message_bytes, FLOAT_BYTES)
        levels = {kind: self.level(kind) for kind in counts.kinds}
        parts: dict[str, Fraction] = dict.fromkeys(("alpha", "beta", "gamma", "delta", "epsilon"), Fraction(0))
        for step, times in counts.busy_steps():
            for symbol, seconds in self._step(counts, step, levels, floats).items():
                parts[symbol] += times * seconds
        words = {"alpha": "start-up", "beta": "links", "gamma": "additions", "delta": "memory access", "epsilon": "incast"}
        return Cost(tuple(Term(symbol, words[symbol], seconds) for symbol, seconds in parts.items()))

    def _step(self, counts: Counts, step: int, levels: Mapping[LinkKind, Level], floats: Fraction) -> dict[str, Fraction]:
        share = floats / counts.shares
        slowest = incast = Fraction(0)
        for kind, communicators, load in counts.links_of(step):
            level = levels[kind]
            carried = share * load * counts.narrowest[kind]
            total = carried * level.flow_seconds(communicators)
            if total > slowest:
                slowest, incast = total, total - carried * level.beta_seconds_per_float
        gamma = delta = Fraction(0)
        for additions, accesses, _ in counts.servers_of(step):
            added = share * additions * self.server.gamma_seconds_per_float
            accessed = share * accesses * self.server.delta_seconds_per_float
            if added + accessed > gamma + delta:
                gamma, delta = added, accessed
        start = max((self.start_seconds(*way) for way in counts.ways_of(step)), default=Fraction(0))
        return {"alpha": start, "beta": slowest - incast, "gamma": gamma, "delta": delta, "epsilon": incast}


def load_genmodel(name: str) -> GenModel:
    """GenModel's parameters, a preset by name or a TOML file; InputError also when they are those of another model."""
    found = load_parameters(name)
    if not isinstance(found, GenModel):
        raise InputError(f"{name} has parameters of another cost model; expected those of GenModel, format certree-genmodel")
    return found
