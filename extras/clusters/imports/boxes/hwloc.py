"""hwloc's XML (`lstopo F.xml`): packages, PCI bridges and devices with the rates of their links, and bandwidths of NVLink and XGMI.

GPUs and interfaces are the PCI devices of their classes; `pci_link_speed` is in GB/s. NVLinks are known where hwloc was built with
NVML: distances named NVLinkBandwidth, in MB/s.
"""

import re
from fractions import Fraction

from certree.extras.clusters.imports import description
from certree.extras.clusters.imports.box import Box, Port
from certree.extras.clusters.imports.options import Options
from certree.extras.clusters.imports.texts import decimal
from certree.models.common.elements import Element, parse_elements
from certree.models.common.errors import TopologyError, short
from certree.models.common.files import Opened

_GPU, _NIC, _NVSWITCH = ("0300", "0302", "0380", "1200"), ("0200", "0207"), "0680"
_VGA = "0300"  # also of the chip that shows a server's console
_SOCKETS = ("Package", "Socket")
_TYPES = {
    *("System", "Machine", "NUMANode", "MemCache", "Group", "Die", "Core", "PU", "Bridge", "PCIDev", "OSDev", "Misc", "Cache"),
    *(f"L{level}{kind}Cache" for level in range(1, 6) for kind in ("", "i", "d")),
    *_SOCKETS,
}
_BANDWIDTHS = ("NVLinkBandwidth", "XGMIBandwidth")


def _matches(start: bytes) -> bool:
    return re.search(rb"<topology[\s>]", start) is not None and b'type="Machine"' in start


@description("hwloc", _matches)
def read_hwloc(file: Opened, options: Options) -> Box:
    """.xml - hwloc's topology: PCI devices and bridges with their rates, sockets, bandwidths of NVLink and XGMI."""
    where = str(file)
    root = _without_types(file, where)
    if root.tag != "topology":
        raise TopologyError(f"{where}: the root is <{root.tag}>; hwloc writes a <topology>")
    return _Reader(root, options, where).box


def _without_types(file: Opened, where: str) -> Element:
    """hwloc writes a document type without entities; it is cut off, any other is refused."""
    data = re.sub(rb'<!DOCTYPE\s+topology\s+SYSTEM\s+"hwloc2?\.dtd"\s*>', b"", file.data(), count=1)
    return parse_elements(data, where, TopologyError)


class _Reader:
    """Builds the box of one document."""

    def __init__(self, root: Element, options: Options, where: str) -> None:
        self.options, self.where = options, where
        self.gpus = self._chosen([element for element in _objects(root) if _class(element) in _GPU])
        if len(self.gpus) * options.boxes < 2:
            raise TopologyError(f"{where}: {len(self.gpus)} PCI device(s) of a GPU's class; a box has at least 2")
        self.box = Box(len(self.gpus))
        self.node: dict[str, int] = {}  # gp_index of a device or of what is in it -> node
        self.kind: dict[str, str] = {}  # and its type
        self.switches: set[int] = set()  # NVSwitches
        sockets: list[int] = []
        for child in root.children:
            self._object(child, None, sockets)
        self._join_bandwidths(root)
        options.tell("took", "GPUs are the PCI devices of a GPU's class, in the order of the file")
        if options.nvlink_only:
            options.tell("left out", "PCIe and sockets: links=nvlink")
        elif len(used := [one for one in sockets if any(one in (cable.a, cable.b) for cable in self.box.cables)]) > 1:
            rate = options.speed("SYS", f"the link between any two of its {len(used)} sockets")
            for index, a in enumerate(used):
                for b in used[index + 1 :]:
                    self.box.join(a, b, rate)

    def _chosen(self, found: list[Element]) -> list[Element]:
        """The GPUs among display controllers: those of a class without a display and others of their model; where there are none,
        those of the vendor with the most."""
        models = {_model(element) for element in found if _class(element) != _VGA}
        if models:
            chosen = [element for element in found if _class(element) != _VGA or _model(element) in models]
        else:
            vendors = [_model(element).partition(":")[0] for element in found]
            chosen = [one for one, vendor in zip(found, vendors, strict=True) if vendor == max(vendors, key=vendors.count)]
        for element in found:
            if not any(element is one for one in chosen):
                bus = element.attributes.get("pci_busid", "")
                self.options.tell("left out", f"display controller {bus} (line {element.line}), unlike the GPUs")
        return chosen

    def _object(self, element: Element, above: int | None, sockets: list[int]) -> None:
        """A part of the machine below node `above`; sockets get nodes, and what is outside all of them the machine."""
        if element.tag != "object":
            return
        kind, node = element.attributes.get("type", ""), above
        if kind not in _TYPES:
            raise TopologyError(f"{self.where}: line {element.line}: an object of type {short(kind)}, which hwloc does not have")
        if kind in _SOCKETS:
            node = self.box.add_switch(f"cpu{element.attributes.get('os_index', len(sockets))}")
            sockets.append(node)
            self._is(element, node)  # which has NVLinks, too, on some machines
        elif kind in ("Bridge", "PCIDev") and any(self._is_used(child) for child in _objects(element)):
            if above is None:
                above = self.box.add_switch("machine")
                sockets.append(above)
            node = self._device(element, above)
        for child in element.children:
            self._object(child, node, sockets)

    def _is_used(self, element: Element) -> bool:
        return _class(element) in _NIC or _is_nvswitch(element) or any(element is gpu for gpu in self.gpus)

    def _device(self, element: Element, above: int) -> int:
        bridge = element.attributes.get("bridge_type", "" if element.attributes["type"] == "Bridge" else "1-1")
        if bridge not in ("0-1", "1-1"):
            raise TopologyError(f"{self.where}: line {element.line}: bridge_type is {short(bridge)}; allowed: 0-1 (at a host), 1-1")
        if bridge == "0-1":
            return above
        bus = element.attributes.get("pci_busid", f"line {element.line}").lower()
        if _class(element) in _GPU:
            node = next(index for index, gpu in enumerate(self.gpus) if gpu is element)
        else:
            node = self.box.add_switch(f"{'nic' if _class(element) in _NIC else 'pci'}-{bus}")
        for part in (element, *(child for child in element.children if child.attributes.get("type") == "OSDev")):
            self._is(part, node)
        if _is_nvswitch(element):
            self.switches.add(node)
            self.options.tell("left out", "PCIe of NVSwitches, which does not reach their NVLinks")
        elif not self.options.nvlink_only:
            self.box.join(node, above, self._rate(element, bus))
        if _class(element) in _NIC and self.options.boxes > 1:
            names = [part.attributes.get("name", "") for part in _objects(element) if part.attributes.get("type") == "OSDev"]
            rate = self.options.speed("NET", f"the port of {names[0] if names else bus}")
            self.box.ports.append(Port(node, rate, (bus, *names)))
        return node

    def _is(self, element: Element, node: int) -> None:
        """Note the node of an object, by which matrices name it."""
        self.node[element.attributes.get("gp_index", "")] = node
        self.kind[element.attributes.get("gp_index", "")] = element.attributes["type"]

    def _rate(self, element: Element, bus: str) -> Fraction:
        text = element.attributes.get("pci_link_speed", "0")
        rate = decimal(text)
        if rate is None or rate > 1000:
            raise TopologyError(f"{self.where}: line {element.line}: pci_link_speed is {short(text)}; expected GB/s, up to 1000")
        return rate * 10**9 if rate else self.options.speed("PCIE", f"the PCIe link of {bus} (line {element.line})")

    def _join_bandwidths(self, root: Element) -> None:
        """Links between GPUs, or to NVSwitches and packages, as the matrices of bandwidths show them."""
        if self.options.nvlinks not in (None, "direct", "switched", "none"):
            raise TopologyError(f"{self.where}: nvlinks={self.options.nvlinks}: hwloc states them; allowed: direct, switched, none")
        if self.options.nvlinks == "none":
            self.options.tell("left out", "NVLinks: nvlinks=none")
            return
        for matrix in root.children:
            name = matrix.attributes.get("name")
            if not matrix.tag.startswith("distances2") or name not in _BANDWIDTHS:
                continue
            parts, values = self._matrix(matrix)
            parts = self._joined_switches(parts, values)
            for row, a in enumerate(parts):
                for column, b in enumerate(parts):
                    rate, back = values[row * len(parts) + column], values[column * len(parts) + row]
                    if rate != back and row != column:
                        raise TopologyError(
                            f"{self.where}: line {matrix.line}: {name} of row {row} to column {column} is {rate}, and {back} back"
                        )
                    if row < column and a != b and rate:
                        self.box.join(a, b, Fraction(rate * 10**6))
            self.options.tell("took", f"{name}, in MB/s")

    def _joined_switches(self, parts: list[int], values: list[int]) -> list[int]:
        """The nodes of the rows; one for all NVSwitches where users say so, as links between NVSwitches are not in the file."""
        rows = [row for row, node in enumerate(parts) if node in self.switches]
        reached = [
            frozenset(a for column, a in enumerate(parts) if a < len(self.gpus) and values[row * len(parts) + column])
            for row in rows
        ]
        apart = [one for one in reached if not one & reached[0]]
        if not apart:
            return parts
        if self.options.nvlinks is None:
            first, second = min(reached[0]), min(apart[0], default=0)
            self.options.ask(
                f"how its NVSwitches are joined: GPUs {first} and {second} reach different ones; give nvlinks=switched (all are"
                " joined) or nvlinks=direct (they are not)"
            )
        if self.options.nvlinks == "direct":
            return parts
        self.options.tell("took", f"{len(rows)} NVSwitches as one, by nvlinks")
        return [parts[rows[0]] if row in rows else node for row, node in enumerate(parts)]

    def _matrix(self, matrix: Element) -> tuple[list[int], list[int]]:
        """The nodes of the rows, and all values."""
        at = f"{self.where}: line {matrix.line}"
        words = {
            tag: " ".join(child.text for child in matrix.children if child.tag == tag).split() for tag in ("indexes", "u64values")
        }
        names = [word.rpartition(":")[2] for word in words["indexes"]]
        unknown = [word for word, name in zip(words["indexes"], names, strict=True) if word != f"{self.kind.get(name)}:{name}"]
        stated = matrix.attributes.get("nbobjs")
        if (
            unknown
            or stated != str(len(names))
            or len(words["u64values"]) != len(names) ** 2
            or not all(re.fullmatch("[0-9]{1,9}", one) for one in words["u64values"])
        ):
            raise TopologyError(
                f"{at}: {len(words['u64values'])} values for {len(names)} objects of {stated}; expected whole numbers for"
                f" devices or packages, {len(names)} x {len(names)}{f'; {short(unknown[0])} is none' if unknown else ''}"
            )
        return [self.node[name] for name in names], [int(one) for one in words["u64values"]]


def _objects(element: Element) -> list[Element]:
    """The element and all objects below it."""
    below = [one for child in element.children for one in _objects(child)]
    return [element, *below] if element.tag == "object" else below


def _is_nvswitch(element: Element) -> bool:
    return element.attributes.get("subtype") == "NVSwitch" or _class(element) == _NVSWITCH


def _model(element: Element) -> str:
    """Vendor and device of a PCI device, such as 10de:2330."""
    found = re.search(r"\[([0-9a-f]{4}:[0-9a-f]{4})\]", element.attributes.get("pci_type", ""))
    return found[1] if found else ""


def _class(element: Element) -> str:
    """The class of a PCI device, such as 0302."""
    found = re.match(r"[0-9a-f]{4}(?= \[|$)", element.attributes.get("pci_type", ""))
    return found[0] if found and element.attributes.get("type") == "PCIDev" else ""
