"""The GPUs of a topology of NCCL, and the links that only GPUs have: NVLink, XGMI, C2C."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from certree.extras.clusters.imports.box import Box
from certree.extras.clusters.imports.boxes.nvlinks import join_switch
from certree.extras.clusters.imports.options import Options
from certree.models.common.elements import Element
from certree.models.common.errors import TopologyError

GPU_CLASSES = ("0x0300", "0x0302", "0x0380", "0x1200")
MAX_COUNT = 1 << 10
_POINT_TO_POINT = {"nvlink": "NV", "xgmi": "XGMI"}
_NVSWITCH, _POWER = "0x068000", "0x068001"
_UNKNOWN = re.compile(r"f+:f+:f+\.[0-9a-f]")  # the NVSwitch of a machine that hides it


def attribute(element: Element, name: str, where: str) -> str:
    """The text of an attribute; TopologyError where it is missing or empty."""
    if not element.attributes.get(name):
        raise TopologyError(f"{where}: line {element.line}: <{element.tag}> has no {name}")
    return element.attributes[name]


def whole(element: Element, name: str, low: int, high: int, where: str) -> int:
    """The whole number in an attribute; TopologyError unless it is from `low` to `high`."""
    text = attribute(element, name, where)
    if not re.fullmatch("[0-9]{1,9}", text) or not low <= int(text) <= high:
        raise TopologyError(f"{where}: line {element.line}: {name} is {text!r}; allowed: whole numbers from {low} to {high}")
    return int(text)


@dataclass
class Gpus:
    """GPUs by their bus and number in the file; endpoints are numbered in the order of `keys`: (host, dev, bus). `host`: the
    number of the host whose GPUs are read."""

    keys: list[tuple[int, int, str]]
    host: int = 0

    def __len__(self) -> int:
        return len(self.keys)

    @classmethod
    def listed(cls, elements: Sequence[Element], where: str) -> "Gpus":
        """GPUs with an element of their own, by `dev`; ranks that share a GPU are one endpoint."""
        found: list[tuple[int, int, str]] = []
        host, hosts = 0, dict[str | None, int]()
        for element in elements:
            if element.tag == "cpu":
                host = hosts.setdefault(element.attributes.get("host_hash"), len(hosts))
            for gpu in (child for child in element.children if child.tag == "gpu"):
                key = (host, whole(gpu, "dev", 0, MAX_COUNT, where), attribute(element, "busid", where).lower())
                if key in found and not _is_other_rank(gpu, element):
                    raise TopologyError(f"{where}: line {gpu.line}: two GPUs have the same dev {key[1]} and rank")
                found += [key] * (key not in found)
        for other, dev in Counter((host, dev) for host, dev, _ in found).items():
            if dev > 1:
                raise TopologyError(f"{where}: two GPUs have the same dev {other[1]}")
        places = Counter(id(element) for element in elements if any(child.tag == "gpu" for child in element.children))
        buses = Counter((host, bus) for host, _, bus in found)
        if len(buses) < len(places) and len(hosts) < 2:
            raise TopologyError(f"{where}: two GPUs have the same busid")
        return cls(sorted(found))

    @classmethod
    def by_class(cls, elements: Sequence[Element], options: Options, where: str) -> "Gpus":
        """PCI devices whose class is that of a GPU, in the order of their buses."""
        buses = [
            attribute(element, "busid", where).lower()
            for element in elements
            if element.tag == "pci" and attribute(element, "class", where).startswith(GPU_CLASSES)
        ]
        if len(set(buses)) < len(buses):
            raise TopologyError(f"{where}: two GPUs have the same busid")
        if buses:
            options.tell("assumed", "GPUs are the PCI devices of a GPU's class, numbered in the order of their buses")
        return cls([(0, number, bus) for number, bus in enumerate(sorted(buses))])

    def at(self, bus: str) -> list[int]:
        """The endpoints in the device on a bus of the host that is read."""
        return [index for index, (host, _, own) in enumerate(self.keys) if (host, own) == (self.host, bus)]

    def number(self, gpu: Element, bus: str) -> int:
        """The endpoint of an element."""
        return self.keys.index((self.host, int(gpu.attributes["dev"]), bus))


def _is_other_rank(gpu: Element, pci: Element) -> bool:
    """Whether all elements of this GPU state ranks, which differ."""
    ranks = [child.attributes.get("rank") for child in pci.children if child.attributes.get("dev") == gpu.attributes.get("dev")]
    return None not in ranks and len(set(ranks)) == len(ranks)


@dataclass
class PointToPoint:
    """Collects the links of GPUs, and joins them in the box when all are known."""

    box: Box
    gpus: Gpus
    options: Options
    where: str
    pairs: dict[tuple[str, int, int], int] = field(default_factory=dict)
    switched: dict[int, dict[str, int]] = field(default_factory=dict)  # endpoint -> NVSwitch -> links
    own: dict[int, int] = field(default_factory=dict)  # endpoint -> links whose target is the GPU itself
    outside: int = 0
    seen: set[int] = field(default_factory=set)

    def add(self, gpu: Element, node: int, socket: int) -> None:
        """The links of one `gpu` element at `node`."""
        if node in self.seen:
            self.options.tell("took", "several ranks on one GPU as one endpoint")
            return
        self.seen.add(node)
        for link in gpu.children:
            if link.tag == "c2c":
                rate = whole(link, "bw", 1, 10**8, self.where) * 10**6
                if not self.options.nvlink_only:
                    self.box.join(node, socket, Fraction(rate), whole(link, "count", 1, MAX_COUNT, self.where))
            else:
                self._add_link(link, node, socket)

    def _add_link(self, link: Element, node: int, socket: int) -> None:
        kind, count = _POINT_TO_POINT[link.tag], whole(link, "count", 1, MAX_COUNT, self.where)
        target, target_class = attribute(link, "target", self.where).lower(), link.attributes.get("tclass", "")
        if self.options.nvlinks == "none":
            self.options.tell("left out", "NVLinks: nvlinks=none")
            return
        found = self.gpus.at(target)
        at = f"{self.where}: line {link.line}: the target {target!r}"
        if found == [node]:
            self.own[node] = self.own.get(node, 0) + count
        elif len(found) > 1:
            raise TopologyError(f"{at} has {len(found)} GPUs; the file does not say which")
        elif found:
            key = (kind, node, found[0])
            self.pairs[key] = self.pairs.get(key, 0) + count
        elif target_class == _NVSWITCH:
            counts = self.switched.setdefault(node, {})
            counts[target] = counts.get(target, 0) + count
        elif target_class == _POWER:
            self.box.join(node, socket, self.options.speed("NV", f"one link of <{link.tag}> (line {link.line})"), count)
        elif target_class.startswith(GPU_CLASSES) and re.fullmatch(r"[0-9a-f]+:[0-9a-f]+:[0-9a-f]+\.[0-9a-f]", target):
            self.outside += count
        else:
            raise TopologyError(
                f"{at} is not a GPU of this file, and tclass {target_class or '(none)'!r} is not that of an NVSwitch ({_NVSWITCH})"
            )
        if found or target_class == _NVSWITCH:
            self.options.speed(kind, f"one link of <{link.tag}> (line {link.line})")

    def join(self) -> None:
        """Join everything in the box."""
        if self.outside:
            self.options.tell(
                "left out", f"{self.outside} links to GPUs that are not in the file: the job runs on a part of the box"
            )
        self._join_pairs()
        self._join_own()
        self._join_switched()
        self._join_unlisted()

    def _join_pairs(self) -> None:
        """Links between two GPUs; both must list the same number."""
        for (kind, a, b), count in sorted(self.pairs.items()):
            back = self.pairs.get((kind, b, a), 0)
            if back != count:
                raise TopologyError(f"{self.where}: gpu {a} lists {count} {kind} links to gpu {b}, which lists {back} back")
            if a < b:
                self.box.join(a, b, self.options.speed(kind, "a link"), count)
        bare = sorted(set(range(len(self.gpus))) - {a for _, a, _ in self.pairs} - set(self.switched))
        if (self.pairs or self.switched) and bare and not self.outside and self.options.nvlinks not in ("direct", "degraded"):
            names = ", ".join(f"gpu {gpu}" for gpu in bare)
            self.options.ask(f"why {names} lists no links to GPUs or NVSwitches, and the others do; give nvlinks=direct if so")

    def _join_own(self) -> None:
        """Links whose target is the GPU itself: the machine hides where they lead."""
        if not self.own:
            return
        chosen = self.options.nvlinks or ""
        pairs = [tuple(map(int, pair.split("-"))) for pair in chosen.split("+")] if re.match("[0-9]", chosen) else []
        ends = [end for pair in pairs for end in pair]
        if not pairs:
            gpu, count = next(iter(self.own.items()))
            self.options.ask(
                f"where NVLinks lead: gpu {gpu} lists {count} NV links to gpu {gpu}, itself; give nvlinks=none, or the pairs that"
                " they join, such as nvlinks=0-1+2-3"
            )
        elif sorted(ends) != sorted(self.own) or any(self.own[a] != self.own[b] for a, b in pairs):
            raise TopologyError(f"{self.where}: nvlinks={chosen}: expected pairs of the GPUs that list as many links to themselves")
        for a, b in pairs:
            self.box.join(a, b, self.options.speed("NV", "one NVLink"), self.own[a])

    def _join_switched(self) -> None:
        """NVSwitches; an unknown one stands for the switches that all other GPUs list."""
        totals = {gpu: sum(counts.values()) for gpu, counts in self.switched.items()}
        if not totals:
            return
        unknown = [gpu for gpu, counts in self.switched.items() if any(map(_UNKNOWN.fullmatch, counts))]
        known = [counts for gpu, counts in self.switched.items() if gpu not in unknown]
        if len(set(totals.values())) > 1 and self.options.nvlinks != "degraded":
            usual = Counter(totals.values()).most_common(1)[0][0]
            odd = ", ".join(f"gpu {gpu} lists {count}" for gpu, count in sorted(totals.items()) if count != usual)
            self.options.ask(
                f"why GPUs differ: {odd} links to NVSwitches, the others {usual}; give nvlinks=degraded if it has fewer"
            )
        if unknown and known:
            if all(counts == known[0] for counts in known) and all(totals[gpu] == sum(known[0].values()) for gpu in unknown):
                self.options.tell("assumed", f"the unknown NVSwitch of {len(unknown)} GPUs is those that the others list")
                self.switched |= dict.fromkeys(unknown, known[0])
            elif self.options.nvlinks == "switched":
                self._join_one(totals)
                return
            else:
                self.options.ask(
                    f"which NVSwitches gpu {unknown[0]} reaches: it lists {totals[unknown[0]]} links to an unknown one, and others"
                    " list others; give nvlinks=switched to take all NVSwitches as one"
                )
        switches = list(dict.fromkeys(name for gpu in sorted(self.switched) for name in self.switched[gpu]))
        number = {name: self.box.add_switch(f"nvswitch-{name}") for name in switches}
        lane = self.options.speed("NV", "one NVLink")
        self.options.tell("took", f"NVLinks of {len(totals)} GPUs to {len(switches)} NVSwitches")
        for gpu, counts in sorted(self.switched.items()):
            for name, count in counts.items():
                self.box.join(gpu, number[name], lane, count)

    def _join_one(self, totals: dict[int, int]) -> None:
        counts = [totals.get(gpu, 0) for gpu in range(len(self.gpus))]
        join_switch(self.box, counts, self.options.speed("NV", "one NVLink"), self.options)

    def _join_unlisted(self) -> None:
        """A file of PCI devices leaves out NVLinks, which NCCL finds itself."""
        if self.seen or not len(self.gpus):
            return
        chosen = self.options.nvlinks or (self.options.assumed.nvlinks if self.options.assumed else None) or ""
        if match := re.fullmatch("switched:([0-9]+)", chosen):
            if not self.options.nvlinks:
                self.options.tell("assumed", f"nvlinks={chosen}")
            count = int(match[1])
            join_switch(self.box, [count] * len(self.gpus), self.options.speed("NV", "one NVLink"), self.options)
        elif chosen == "none":
            self.options.tell("left out", "NVLinks, which the file does not list: nvlinks=none")
        else:
            self.options.ask(
                "which NVLinks its GPUs have, since it lists PCI devices only; give nvlinks=none, or nvlinks=switched:N for N of"
                " each GPU to NVSwitches"
            )
