"""Options that users state about a file, questions to them, and notes on how the file was understood."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from fractions import Fraction
from pathlib import Path

from certree.extras.clusters.imports.assumed import ASSUMED, Assumed
from certree.models.common.errors import TopologyError, unknown_name
from certree.models.common.quantities import parse_bandwidth

FABRICS = ("switch", "rails")
NVLINKS = ("direct", "switched", "degraded", "none")
LEVELS = ("PIX", "PXB", "PHB", "NODE", "SYS")  # where PCIe paths meet, from near to far
KINDS = ("NV", "XGMI", "PCIE", *LEVELS, "NET", "LINK", "UPLINK")  # of links whose speed can be given
MAX_BOXES = 4096
UNLIMITED = Fraction(10**15)  # bytes per second of a port whose cable has the rate that counts
_NVLINKS_MORE = re.compile(r"switched:[1-9][0-9]?|[0-9]{1,4}-[0-9]{1,4}(?:\+[0-9]{1,4}-[0-9]{1,4})*")

#: name -> help text of the options that may follow the name of an imported file
OPTION_HELP = {
    "speed": "speed=KIND:BANDWIDTH, such as NV:25GB/s (one NVLink), NET:200Gb/s, LINK:100Gb/s (a cable of a fabric); may repeat",
    "unit": "unit=BANDWIDTH in which schedules count link rates, rounded down; every method has this option, too",
    "boxes": "boxes=N composes N boxes with a fabric between their network interfaces",
    "fabric": "fabric=switch joins all network interfaces, fabric=rails those of one number, fabric=FILE as a listing says",
    "hosts": "hosts=NAME+NAME are the hosts of fabric=FILE that are boxes; * stands for any text",
    "dumps": "dumps=FILE+FILE are further boxes, each a host of fabric=FILE, by the name of the file or in the order of hosts",
    "nics": "nics=NAME+NAME takes these network interfaces or adapters only; * stands for any text",
    "nvlinks": "nvlinks=direct, switched, degraded (a GPU has fewer links to switches), none, switched:N, or pairs as 0-1+2-3",
    "links": "links=nvlink leaves out PCIe and sockets; cables or directed: what a row of an edge list is",
    "switches": "switches=NAME+NAME are the nodes of an edge list that are no endpoints; * stands for any text",
    "host": "host=NAME takes one of several hosts in a file; host=all takes them as one box where NVLinks join them",
    "assume": "assume=MACHINE takes what a file does not state from a machine: " + ", ".join(sorted(ASSUMED)),
}


@dataclass
class Talk:
    """Questions that are still open, and sentences on what was taken, assumed and left out."""

    speeds: dict[str, str] = field(default_factory=dict)  # kind of link -> an example of such a link
    choices: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)

    def tell(self, kind: str, what: str) -> None:
        """Add a sentence, once. `kind`: took, assumed, or left out."""
        if (line := f"{kind}: {what}") not in self.told:
            self.told.append(line)


@dataclass(frozen=True)
class Options:
    """The user's options for a file. Speeds by kind of link, in bytes per second; see `OPTION_HELP`."""

    speeds: Mapping[str, Fraction] = field(default_factory=dict)
    unit: Fraction | None = None
    boxes: int = 1
    fabric: str | None = None
    hosts: tuple[str, ...] = ()
    dumps: tuple[str, ...] = ()
    nvlinks: str | None = None
    links: str | None = None
    nics: tuple[str, ...] = ()
    switches: tuple[str, ...] = ()
    host: str | None = None
    assumed: Assumed | None = None
    talk: Talk = field(default_factory=Talk)

    @property
    def nvlink_only(self) -> bool:
        """Whether PCIe and sockets are left out."""
        return self.links == "nvlink"

    @property
    def fabric_file(self) -> Path | None:
        """The file that says how boxes are joined."""
        return None if self.fabric in (None, *FABRICS) else Path(self.fabric)

    def tell(self, kind: str, what: str) -> None:
        """Say how something was understood. `kind`: took, assumed, or left out."""
        self.talk.tell(kind, what)

    def speed(self, kind: str, what: str) -> Fraction:
        """The speed of a kind of link, of which `what` is an example; where it was not given, it will be asked for."""
        if kind in self.speeds:
            return self.speeds[kind]
        if self.assumed is not None and kind in self.assumed.speeds:
            rate = self.assumed.speeds[kind]
            self.tell("assumed", f"{float(rate) / 10**9:.6g} GB/s for {kind}, as in {self.assumed.name}")
            return rate
        if kind == "NET" and self.fabric_file is not None:
            return UNLIMITED
        self.talk.speeds.setdefault(kind, what)
        return Fraction(1)

    def ask(self, question: str) -> None:
        """Ask for a choice."""
        if question not in self.talk.choices:
            self.talk.choices.append(question)

    def require_answers(self, where: str) -> None:
        """Raise one TopologyError that asks for everything that is missing."""
        speeds, asked = self.talk.speeds, list(self.talk.choices)
        if len(speeds) == 1:
            (kind, what) = next(iter(speeds.items()))
            text = f"how fast {what} is; give speed={kind}:BANDWIDTH, such as speed={kind}:25GB/s"
            asked.insert(0, text)
        elif speeds:
            each = ", ".join(f"{what} (speed={kind}:BANDWIDTH)" for kind, what in speeds.items())
            asked.insert(0, f"how fast these are: {each}; give all of them, such as speed={next(iter(speeds))}:25GB/s")
        if asked:
            raise TopologyError(f"{where} does not say {'; nor '.join(asked)}")


def read_options(pairs: Sequence[tuple[str, str]], where: str) -> Options:
    """Options from (name, value) pairs; TopologyError names a wrong one and what is allowed."""
    speeds: dict[str, Fraction] = {}
    values: dict[str, str] = {}
    for name, value in pairs:
        if name == "speed":
            kind, colon, text = value.partition(":")
            if not (kind and colon) or kind in speeds:
                raise TopologyError(f"{where}: speed={value!r}: expected KIND:BANDWIDTH, once for each kind")
            if kind not in KINDS:
                raise TopologyError(f"{where}: speed of {kind!r}; allowed: {', '.join(KINDS)}")
            speeds[kind] = parse_bandwidth(text, f"{where}: speed={kind}", TopologyError)
            if speeds[kind] < 1:
                raise TopologyError(f"{where}: speed={kind}: bandwidth {text!r}; allowed: from 1B/s")
        elif name in values:
            raise TopologyError(f"{where}: option {name} is given twice")
        elif not value and name in ("host", "hosts", "nics", "switches", "dumps", "fabric"):
            raise TopologyError(f"{where}: option {name} has no value")
        else:
            values[name] = value
    _check_choices(values, where)
    boxes = values.get("boxes", "1")
    if not re.fullmatch("[0-9]{1,5}", boxes) or not 1 <= int(boxes) <= MAX_BOXES:
        raise TopologyError(f"{where}: boxes={boxes!r}; allowed: whole numbers from 1 to {MAX_BOXES}")
    return Options(
        speeds=speeds,
        unit=parse_bandwidth(values["unit"], f"{where}: unit", TopologyError) if "unit" in values else None,
        boxes=int(boxes),
        fabric=values.get("fabric"),
        hosts=_patterns(values.get("hosts")),
        dumps=_patterns(values.get("dumps")),
        nvlinks=values.get("nvlinks"),
        links=values.get("links"),
        nics=_patterns(values.get("nics")),
        switches=_patterns(values.get("switches")),
        host=values.get("host"),
        assumed=ASSUMED[values["assume"]] if "assume" in values else None,
    )


def _check_choices(values: Mapping[str, str], where: str) -> None:
    fabric = values.get("fabric", FABRICS[0])
    if fabric not in FABRICS and not Path(fabric).is_file():
        raise TopologyError(f"{where}: fabric={fabric!r}; allowed: {', '.join(FABRICS)}, and files that there are")
    if fabric in FABRICS and (extra := next((name for name in ("hosts", "dumps") if name in values), None)):
        raise TopologyError(f"{where}: {extra}= is for boxes that fabric=FILE joins")
    for name, allowed in (("nvlinks", NVLINKS), ("links", ("nvlink", "cables", "directed"))):
        chosen = values.get(name, allowed[0])
        if chosen not in allowed and not (name == "nvlinks" and _NVLINKS_MORE.fullmatch(chosen)):
            raise TopologyError(f"{where}: {name}={chosen!r}; allowed: {', '.join(allowed)}")
    if values.get("assume", "h100") not in ASSUMED:
        raise TopologyError(f"{where}: {unknown_name('machine', values['assume'], sorted(ASSUMED))}")


def _patterns(text: str | None) -> tuple[str, ...]:
    return tuple(text.split("+")) if text else ()


def matching(names: Sequence[str], patterns: Sequence[str], option: str, where: str) -> list[bool]:
    """Whether each name matches a pattern; TopologyError for a pattern that no name matches."""
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in names):
            shown = ", ".join(dict.fromkeys(names[:12]))
            raise TopologyError(f"{where}: {option}={pattern}: there is no such name; known: {shown}{', ...' * (len(names) > 12)}")
    return [any(fnmatchcase(name, pattern) for pattern in patterns) for name in names]
