"""NCCL's topology XML, as NCCL_TOPO_DUMP_FILE writes it and clouds publish it: `system` > `cpu` > `pci` (nested) > `gpu`, `nic`.

PCIe bandwidth is link width x transfer rate x the rate of the line code (8b/10b up to 5 GT/s, 128b/130b above, 242 of 256 bytes
from 64 GT/s on). The file does not state the speed of an NVLink or of the links between sockets, and often not that of virtual
PCIe: options supply them. A file without any `gpu` lists PCI devices only: their classes say which are GPUs and interfaces.
"""

import re
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

from certree.extras.clusters.imports import description
from certree.extras.clusters.imports.box import Box, Port
from certree.extras.clusters.imports.boxes.nccl_gpus import GPU_CLASSES, Gpus, PointToPoint, attribute
from certree.extras.clusters.imports.options import Options
from certree.models.common.elements import Element, parse_elements
from certree.models.common.errors import TopologyError, short
from certree.models.common.files import Opened

#: the elements of which each is a part
_INSIDE = {
    "cpu": ("system",),
    "pci": ("cpu", "pci"),
    "gpu": ("pci",),
    "nvlink": ("gpu",),
    "xgmi": ("gpu",),
    "c2c": ("gpu",),
    "nic": ("cpu", "pci"),
    "net": ("nic",),
}
_NIC_CLASSES = ("0x0200", "0x0207")
_MOST_PORT = 3_200_000  # Mb/s of a port
#: (vendor, device) of bridges that hypervisors emulate, with the rate of an old chip: x3130, root and 3420 ports of QEMU
_EMULATED = (("0x104c", "0x8232"), ("0x104c", "0x8233"), ("0x1b36", "0x000c"), ("0x8086", "0x3420"))
_SLACK = 2  # times the rate of its slot that a port may have where nothing passes through it: machines state old slots


@description("nccl", lambda start: b"<system" in start, ".xml")
def read_nccl(file: Opened, options: Options) -> Box:
    """.xml - NCCL topology of one box (NCCL_TOPO_DUMP_FILE, or a cloud's): GPUs, NVLinks, C2C, PCIe, sockets, interfaces."""
    where = str(file)
    system = parse_elements(file.data(), where, TopologyError)
    if system.tag != "system":
        more = "; a <graphs> file is a graph dump: give the topology dump" if system.tag == "graphs" else ""
        raise TopologyError(f"{where}: the root is <{system.tag}>; an NCCL topology is a <system>{more}")
    for element in _walk(system):
        for child in element.children:
            if child.tag not in _INSIDE:
                known = ", ".join(sorted(_INSIDE))
                raise TopologyError(f"{where}: line {child.line}: <{child.tag}> is not understood; known: {known}")
            if not re.fullmatch("(?:0x[0-9a-fA-F]{6})?", kind := child.attributes.get("class", "")):
                raise TopologyError(f"{where}: line {child.line}: class is {short(kind)}; expected six digits, such as 0x030200")
            if child.tag == "pci" and re.search(r"\s", bus := child.attributes.get("busid", "")):
                raise TopologyError(f"{where}: line {child.line}: busid is {short(bus)}; expected no spaces")
            if element.tag not in _INSIDE[child.tag]:
                raise TopologyError(f"{where}: line {child.line}: a <{child.tag}> belongs into a <{_INSIDE[child.tag][0]}>")
    return _Reader(_host(system, options, where), options, where).box


def _walk(element: Element) -> Iterator[Element]:
    yield element
    for child in element.children:
        yield from _walk(child)


def _host(system: Element, options: Options, where: str) -> list[Element]:
    """The `cpu` elements of the host that was chosen."""
    cpus = system.children
    hosts = list(dict.fromkeys(cpu.attributes["host_hash"] for cpu in cpus if "host_hash" in cpu.attributes))
    if options.host is None and len(hosts) < 2:
        return cpus
    if options.host == "all":
        options.tell("took", f"{len(hosts)} hosts as one box: their NVSwitches are the same")
        return cpus
    if options.host not in hosts:
        known = " or ".join(f"host={name}" for name in [*hosts, "all"])
        given = f"host={options.host} is not in it" if options.host else "a box is one host"
        raise TopologyError(f"{where} describes {len(hosts)} hosts; {given}; give {known} (boxes=N composes several)")
    options.tell("took", f"host {options.host} of {len(hosts)}")
    return [cpu for cpu in cpus if cpu.attributes.get("host_hash") == options.host]


class _Reader:
    """Builds the box of one document."""

    def __init__(self, cpus: list[Element], options: Options, where: str) -> None:
        self.options, self.where = options, where
        self.has_gpus = any(element.tag == "gpu" for cpu in cpus for element in _walk(cpu))
        devices = [element for cpu in cpus for element in _walk(cpu)]
        self.gpus = Gpus.listed(devices, where) if self.has_gpus else Gpus.by_class(devices, options, where)
        if len(self.gpus) * options.boxes < 2:
            raise TopologyError(f"{where}: {len(self.gpus)} GPU(s); a box has at least 2 (boxes=N joins boxes of one)")
        self.box = Box(len(self.gpus))
        self.links = PointToPoint(self.box, self.gpus, options, where)
        self.hosts = list(dict.fromkeys(cpu.attributes.get("host_hash") for cpu in cpus))
        sockets = [(cpu.attributes.get("host_hash"), self._cpu(index, cpu)) for index, cpu in enumerate(cpus)]
        self.links.join()
        self._check_ports()
        if options.nvlink_only:
            options.tell("left out", "PCIe and sockets: links=nvlink")
        else:
            used = {end for cable in self.box.cables for end in (cable.a, cable.b)}
            for host in dict.fromkeys(host for host, _ in sockets):
                self._join_sockets([socket for of, socket in sockets if of == host and socket in used])

    def _cpu(self, index: int, cpu: Element) -> int:
        self.gpus.host = self.hosts.index(cpu.attributes.get("host_hash"))
        socket = self.box.add_switch(f"cpu{cpu.attributes.get('numaid', index)}")
        for child in cpu.children:
            self._device(child, socket, socket)
        return socket

    def _device(self, element: Element, parent: int, socket: int) -> None:
        """A PCIe device below `parent`: a GPU, a network interface, or a bridge."""
        if element.tag == "nic":  # a virtual interface, right at the socket
            self._ports(element, parent, None)
        if element.tag != "pci":
            return
        nics = [child for child in element.children if child.tag == "nic"]
        is_nic = not self.has_gpus and element.attributes.get("class", "")[:6] in _NIC_CLASSES
        if not any(child.tag in ("gpu", "net") or self._is_used(child) for child in _walk(element)):
            return
        rate = None if self.options.nvlink_only else self._pcie(element)
        node = self._node(element, parent, socket, rate, is_nic=bool(nics) or is_nic)
        for nic in nics:
            self._ports(nic, node, rate)
        if is_nic and self.options.boxes > 1:
            bus = attribute(element, "busid", self.where).lower()
            self.box.ports.append(Port(node, self.options.speed("NET", f"the port of {bus} (line {element.line})"), (bus,)))
        for child in element.children:
            if child.tag == "pci":
                self._device(child, node, socket)

    def _is_used(self, element: Element) -> bool:
        """Whether a device without elements of its own is a GPU or an interface by its class."""
        kind = element.attributes.get("class", "")
        return not self.has_gpus and element.tag == "pci" and kind.startswith((*GPU_CLASSES, *_NIC_CLASSES))

    def _node(self, pci: Element, parent: int, socket: int, rate: Fraction | None, *, is_nic: bool) -> int:
        """The node of a device, joined with its parent."""
        bus = attribute(pci, "busid", self.where).lower()
        inside = self.gpus.at(bus)
        name = f"{'nic' if is_nic else 'pci'}-{bus}"
        node = inside[0] if len(inside) == 1 else self.box.add_switch(name)
        for gpu in (child for child in pci.children if child.tag == "gpu"):
            self.links.add(gpu, self.gpus.number(gpu, bus), socket)
        if rate is not None:
            self.box.join(node, parent, rate)
            if len(inside) > 1:
                self.options.tell("assumed", f"{len(inside)} GPUs in device {bus} share its PCIe link, each at its full rate")
                for gpu_node in inside:
                    self.box.join(gpu_node, node, rate)
        return node

    def _pcie(self, pci: Element) -> Fraction:
        text = pci.attributes.get("link_speed", "")
        rate = re.fullmatch(r"([0-9]{1,3}(?:\.[0-9]{1,2})?) ?GT/s(?: PCIe)?", text)
        if rate is None and "GT" in text:
            raise TopologyError(f"{self.where}: line {pci.line}: link_speed is {short(text)}; expected such as 16.0 GT/s PCIe")
        width = pci.attributes.get("link_width", "")
        is_emulated = (pci.attributes.get("vendor"), pci.attributes.get("device")) in _EMULATED
        if is_emulated and rate is not None:
            self.options.tell("left out", f"the rate that emulated bridges state, {short(text)}")
        if is_emulated or rate is None or not re.fullmatch("[0-9]{1,3}", width) or not int(width) or not Fraction(rate[1]):
            what = f"the PCIe link of {attribute(pci, 'busid', self.where)} (line {pci.line})"
            return self.options.speed("PCIE", what)
        transfers = Fraction(rate[1])
        if int(width) not in (1, 2, 4, 8, 12, 16, 32) or transfers not in map(Fraction, ("2.5", "5", "8", "16", "32", "64", "128")):
            raise TopologyError(
                f"{self.where}: line {pci.line}: a PCIe link of {width} lanes of {rate[1]} GT/s; there are 1 to 32 lanes of 2.5 to"
                " 128 GT/s"
            )
        code = Fraction(8, 10) if transfers <= 5 else Fraction(128, 130) if transfers < 64 else Fraction(242, 256)
        return transfers * 10**9 * int(width) * code / 8

    def _ports(self, nic: Element, node: int, slot: Fraction | None) -> None:
        """The ports of an interface, each as fast as it says, and no faster than its slot."""
        for net in (child for child in nic.children if child.tag == "net"):
            name, text = net.attributes.get("name", ""), net.attributes.get("speed", "0")
            what = f"the port {name} (line {net.line})"
            if not re.fullmatch("-?[0-9]{1,9}", text):
                raise TopologyError(f"{self.where}: line {net.line}: speed is {text!r}; expected a whole number of Mb/s")
            if int(text) > 0:
                rate = Fraction(int(text) * 10**6, 8)
                is_faster = int(text) > _MOST_PORT or (slot is not None and self._is_stated(slot) and rate > slot)
                is_used = self.options.boxes > 1 or int(text) > _MOST_PORT or (slot is not None and rate > _SLACK * slot)
                if is_faster and is_used and "NET" in self.options.speeds:
                    rate = self.options.speeds["NET"]
                elif is_faster and is_used:
                    limit = f"its slot of {float(slot) / 10**9:.6g} GB/s" if slot is not None else "any port, of 3.2 Tb/s at most"
                    raise TopologyError(
                        f"{self.where}: line {net.line}: the port {name} has {text} Mb/s ({float(rate) / 10**9:.6g} GB/s), more"
                        f" than {limit}; give speed=NET:BANDWIDTH for such ports"
                    )
                self.box.ports.append(Port(node, rate, (name,)))
            elif self.options.boxes > 1:
                self.box.ports.append(Port(node, self.options.speed("NET", what), (name,)))

    def _is_stated(self, slot: Fraction) -> bool:
        return slot > 1  # a rate that is still to be asked for is a placeholder of 1

    def _check_ports(self) -> None:
        repeated = [name for name, count in Counter(port.names for port in self.box.ports).items() if count > 1 and any(name)]
        if repeated and self.options.boxes > 1 and self.options.host != "all":
            self.options.tell("took", f"{len(repeated)} interfaces with several ports, each port a rail of its own")
        if self.box.ports and self.options.boxes == 1:
            self.options.tell("left out", f"{len(self.box.ports)} network ports: a single box has no fabric")

    def _join_sockets(self, sockets: list[int]) -> None:
        if len(sockets) > 1:
            bandwidth = self.options.speed("SYS", f"the link between any two of its {len(sockets)} sockets")
            for index, a in enumerate(sockets):
                for b in sockets[index + 1 :]:
                    self.box.join(a, b, bandwidth)
