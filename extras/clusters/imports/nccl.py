"""NCCL's topology XML, as NCCL_TOPO_DUMP_FILE writes it: `system` > `cpu` > `pci` (nested) > `gpu` > `nvlink`, `nic` > `net`.

PCIe bandwidth is link width x transfer rate x the rate of the line code (8b/10b up to 5 GT/s, 128b/130b above). The file does not
state the speed of an NVLink or of the links between sockets, and often not that of virtual PCIe: options supply them.
"""

import re
from collections.abc import Iterator
from fractions import Fraction

from certree.extras.clusters.imports import description
from certree.extras.clusters.imports.box import Box, Options
from certree.models.common.elements import Element, parse_elements
from certree.models.common.errors import TopologyError

_KNOWN = {"system", "cpu", "pci", "gpu", "nvlink", "xgmi", "nic", "net"}
_POINT_TO_POINT = {"nvlink": "NV", "xgmi": "XGMI"}
_NVSWITCH_CLASS = "0x068000"
_FAST_CODE = Fraction(128, 130)
_SLOW_CODE = Fraction(8, 10)
MAX_COUNT = 1 << 10


@description("nccl", ".xml", lambda start: b"<system" in start)
def read_nccl(data: bytes, options: Options, where: str) -> Box:
    """.xml - NCCL topology dump of one box (NCCL_TOPO_DUMP_FILE): GPUs, NVLinks and NVSwitches, PCIe, sockets, interfaces."""
    system = parse_elements(data, where, TopologyError)
    if system.tag != "system":
        raise TopologyError(f"{where}: the root is <{system.tag}>; an NCCL topology is a <system>")
    for element in _walk(system):
        if element.tag not in _KNOWN:
            raise TopologyError(
                f"{where}: line {element.line}: <{element.tag}> is not understood; known: {', '.join(sorted(_KNOWN))}"
            )
    hosts = {cpu.attributes["host_hash"] for cpu in _walk(system) if cpu.tag == "cpu" and "host_hash" in cpu.attributes}
    if len(hosts) > 1:
        raise TopologyError(f"{where} describes {len(hosts)} hosts; a box is one host (boxes=N composes several)")
    return _Reader(system, options, where).box


def _walk(element: Element) -> Iterator[Element]:
    yield element
    for child in element.children:
        yield from _walk(child)


class _Reader:
    """Builds the box of one document."""

    def __init__(self, system: Element, options: Options, where: str) -> None:
        self.options = options
        self.where = where
        self.gpu_of = self._gpus(system)
        self.box = Box(len(self.gpu_of))
        self.nvswitch: dict[str, int] = {}
        self.counts: dict[tuple[str, int, int], int] = {}
        cpus = [element for element in system.children if element.tag == "cpu"]
        sockets = [self._cpu(index, cpu) for index, cpu in enumerate(cpus)]
        self._join_pairs()
        if not options.nvlink_only:
            self._join_sockets([socket for socket in sockets if any(socket in (cable.a, cable.b) for cable in self.box.cables)])

    def _gpus(self, system: Element) -> dict[str, int]:
        """Bus id -> number of the GPU there, in the order of `dev`."""
        found: list[tuple[int, str]] = []
        for pci in _walk(system):
            for gpu in (child for child in pci.children if child.tag == "gpu"):
                if pci.tag != "pci":
                    raise TopologyError(f"{self.where}: line {gpu.line}: a <gpu> belongs into a <pci>")
                found.append((self._whole(gpu, "dev", 0), self._text(pci, "busid").lower()))
        found.sort()
        numbers, buses = [dev for dev, _ in found], [bus for _, bus in found]
        for values, what in ((numbers, "dev"), (buses, "busid")):
            if len(set(values)) < len(values):
                raise TopologyError(f"{self.where}: two GPUs have the same {what}")
        if len(found) < 2:
            raise TopologyError(f"{self.where}: {len(found)} GPU(s); a box has at least 2")
        return {bus: number for number, bus in enumerate(buses)}

    def _cpu(self, index: int, cpu: Element) -> int:
        socket = self.box.add_switch(f"cpu{cpu.attributes.get('numaid', index)}")
        for child in cpu.children:
            self._device(child, socket, socket)
        return socket

    def _device(self, element: Element, parent: int, socket: int) -> None:
        """A PCIe device below `parent`: a GPU, a network interface, or a bridge."""
        if element.tag == "nic":  # a virtual interface, right at the socket
            self._ports(element, parent)
        if element.tag != "pci":
            return
        gpu = next((child for child in element.children if child.tag == "gpu"), None)
        nics = [child for child in element.children if child.tag == "nic"]
        if not any(child.tag in ("gpu", "net") for child in _walk(element)):
            return
        if gpu is not None:
            node = self.gpu_of[self._text(element, "busid").lower()]
            self._point_to_point(gpu, node, socket)
        else:
            node = self.box.add_switch(f"{'nic' if nics else 'pci'}-{self._text(element, 'busid').lower()}")
        if not self.options.nvlink_only:
            self.box.join(node, parent, self._pcie(element))
        for nic in nics:
            self._ports(nic, node)
        for child in element.children:
            if child.tag == "pci":
                self._device(child, node, socket)

    def _pcie(self, pci: Element) -> Fraction:
        rate = re.match(r"([0-9]{1,3}(?:\.[0-9]{1,2})?) ?GT/s", pci.attributes.get("link_speed", ""))
        width = pci.attributes.get("link_width", "")
        if rate is None or not re.fullmatch("[0-9]{1,3}", width) or not int(width) or not Fraction(rate[1]):
            what = f"the PCIe link of {self._text(pci, 'busid')} (line {pci.line})"
            return self.options.speed("PCIE", self.where, what)
        transfers = Fraction(rate[1])
        return transfers * 10**9 * int(width) * (_SLOW_CODE if transfers <= 5 else _FAST_CODE) / 8

    def _ports(self, nic: Element, node: int) -> None:
        for net in (child for child in nic.children if child.tag == "net"):
            text = net.attributes.get("speed", "0")
            if re.fullmatch("[0-9]{1,9}", text) and int(text):
                self.box.ports.append((node, Fraction(int(text) * 10**6, 8)))  # stated in Mb/s
            elif self.options.boxes > 1:
                what = f"the port {net.attributes.get('name', '')} (line {net.line})"
                self.box.ports.append((node, self.options.speed("NET", self.where, what)))

    def _point_to_point(self, gpu: Element, node: int, socket: int) -> None:
        for link in (child for child in gpu.children if child.tag in _POINT_TO_POINT):
            kind, count = _POINT_TO_POINT[link.tag], self._whole(link, "count", 1)
            target = self._text(link, "target").lower()
            lane = self.options.speed(kind, self.where, f"one link of <{link.tag}> (line {link.line})")
            if target in self.gpu_of:
                key = (kind, node, self.gpu_of[target])
                self.counts[key] = self.counts.get(key, 0) + count
            elif link.attributes.get("tclass", "") == _NVSWITCH_CLASS:
                if target not in self.nvswitch:
                    self.nvswitch[target] = self.box.add_switch(f"nvswitch-{target}")
                self.box.join(node, self.nvswitch[target], lane, count)
            elif link.attributes.get("tclass", "") == "0x068001":  # the NVLink of a POWER processor
                self.box.join(node, socket, lane, count)
            else:
                raise TopologyError(
                    f"{self.where}: line {link.line}: the target {target!r} is not a GPU of this file, and tclass"
                    f" {link.attributes.get('tclass', '(none)')!r} is not that of an NVSwitch ({_NVSWITCH_CLASS})"
                )

    def _join_pairs(self) -> None:
        """Links between two GPUs; both must list the same number."""
        for (kind, a, b), count in sorted(self.counts.items()):
            back = self.counts.get((kind, b, a), 0)
            if a == b or back != count:
                raise TopologyError(f"{self.where}: gpu {a} lists {count} {kind} links to gpu {b}, which lists {back} back")
            if a < b:
                self.box.join(a, b, self.options.speed(kind, self.where, "a link"), count)

    def _join_sockets(self, sockets: list[int]) -> None:
        if len(sockets) > 1:
            bandwidth = self.options.speed("SYS", self.where, f"the link between any two of its {len(sockets)} sockets")
            for index, a in enumerate(sockets):
                for b in sockets[index + 1 :]:
                    self.box.join(a, b, bandwidth)

    def _text(self, element: Element, name: str) -> str:
        if not element.attributes.get(name):
            raise TopologyError(f"{self.where}: line {element.line}: <{element.tag}> has no {name}")
        return element.attributes[name]

    def _whole(self, element: Element, name: str, low: int) -> int:
        text = self._text(element, name)
        if not re.fullmatch("[0-9]{1,4}", text) or not low <= int(text) <= MAX_COUNT:
            raise TopologyError(
                f"{self.where}: line {element.line}: {name} is {text!r}; allowed: whole numbers from {low} to {MAX_COUNT}"
            )
        return int(text)
