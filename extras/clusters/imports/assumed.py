"""Values that may be assumed of a named machine: the speeds of its links, and how NVLinks join its GPUs.

Figures as in the families of the same names, which name their sources; PCIe of 16 lanes, 128b/130b, of the generation that the
vendor's data sheet of the GPU states.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

_GB = 10**9


@dataclass(frozen=True)
class Assumed:
    """`speeds`: by kind of link, in bytes per second and direction. `nvlinks`: as the option of that name; None where a GPU has
    none. `family`: a box with its links, where the links of a GPU depend on which GPU it is."""

    name: str
    speeds: Mapping[str, Fraction]
    nvlinks: str | None = None
    family: str | None = None


def _machine(name: str, generation: int, net: int, *, nvlink: int = 0, xgmi: int = 0, **more: str) -> Assumed:
    """PCIe of a generation, an interface of `net` Gb/s, links between GPUs in GB/s."""
    lane = Fraction({3: 8, 4: 16, 5: 32}[generation]) * _GB * Fraction(128, 130) / 8
    speeds = dict.fromkeys(("PCIE", "PIX", "PXB", "PHB"), 16 * lane) | {"NET": Fraction(net * _GB, 8)}
    speeds |= {"NV": Fraction(nvlink * _GB)} if nvlink else {"XGMI": Fraction(xgmi * _GB)}
    return Assumed(name, speeds, more.get("nvlinks"), more.get("family"))


ASSUMED = {
    one.name: one
    for one in (
        _machine("dgx1", 3, 100, nvlink=25, family="dgx1"),
        _machine("dgx2", 3, 100, nvlink=25, nvlinks="switched:6"),
        _machine("a100", 4, 200, nvlink=25, nvlinks="switched:12"),
        _machine("h100", 5, 400, nvlink=25, nvlinks="switched:18"),
        _machine("b200", 5, 400, nvlink=50, nvlinks="switched:18"),
        _machine("nvl72", 5, 400, nvlink=50, nvlinks="switched:18"),
        _machine("mi250", 4, 200, xgmi=50, family="mi250"),
        _machine("mi300x", 5, 400, xgmi=64, family="mi300x"),
    )
}
