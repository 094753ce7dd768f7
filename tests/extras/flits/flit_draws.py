"""Flits drawn by seed, and SystemVerilog modules that are asked for them."""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np

from certree.extras.flits.model.flit_format import DATA, FlitFormat, FlitType
from certree.extras.flits.run.core_flits import NUMBERS, Words
from certree.extras.flits.run.verilog import modules, parameters

SHAPES = (
    FlitFormat(vc=2, node=4, ports=8, hops=1, tree=4, data=128),  # the paper's 4x4 torus on machine multitree
    FlitFormat(vc=1, node=3, ports=3, hops=3, tree=2, data=14),  # a head without data
    FlitFormat(vc=3, node=7, ports=5, hops=2, tree=6, data=40),
    FlitFormat(vc=4, node=2, ports=1, hops=1, tree=1, data=64),  # one port; a flit of two limbs
)


@dataclass(frozen=True)
class Draw:
    """A flit: its type, and a value for each field, also for those that it has not; `above`: bits of data for which a head has no
    room."""

    kind: FlitType
    numbers: dict[str, int]
    route: list[int]
    data: int
    above: int


def draws(layout: FlitFormat, count: int, seed: int) -> list[Draw]:
    """Flits of all types, every third the head of a message; routes of any length."""
    random, found = Random(seed), []
    for _ in range(count):
        kind = FlitType.MESSAGE_HEAD if random.randrange(3) == 0 else FlitType(random.randrange(8))
        numbers = {name: random.getrandbits(getattr(layout, width)) for name, width in _WIDTHS.items()}
        ports = [random.randrange(layout.ports) for _ in range(random.randint(2, layout.hops + 1))]
        route = [*ports, *[layout.no_port] * (layout.hops + 1 - len(ports))]
        room = next((field.bits for field in layout.fields(kind) if field.name == DATA), 0)
        data = random.getrandbits(layout.data)
        found.append(Draw(kind, numbers, route, data & (1 << room) - 1, data >> room << room))
    return found


_WIDTHS = {"vc": "vc", "dest": "node", "src": "node", "tree": "tree"}


def values_of(draw: Draw, layout: FlitFormat) -> dict[str, int]:
    """The values of the fields that the flit has."""
    given = draw.numbers | dict(zip(layout.route_names, draw.route, strict=True)) | {DATA: draw.data}
    return {field.name: given[field.name] for field in layout.fields(draw.kind) if field.name != "type"}


def columns_of(drawn: list[Draw]) -> dict[str, np.ndarray]:
    """The columns of `core_flits.pack`."""
    numbers = {name: np.array([draw.numbers[name] for draw in drawn]) for name in NUMBERS if name != "type"}
    return numbers | {"type": np.array([draw.kind for draw in drawn]), "route": np.array([draw.route for draw in drawn])}


def limbs(numbers: list[int], layout: FlitFormat) -> Words:
    """Numbers as limbs of 64 bits, the lowest first."""
    count = -(-layout.bits // 64)
    data = b"".join(number.to_bytes(8 * count, "little") for number in numbers)
    return np.frombuffer(data, "<u8").reshape(len(numbers), count).astype(np.uint64)


def inputs(draw: Draw, layout: FlitFormat, *, is_full: bool = False) -> dict[str, tuple[int, int]]:
    """The ports of the packer: (bits, value) of each; `is_full`: with data for which a head has no room."""
    width = layout.ports.bit_length()  # holds the number of ports, too
    route = sum(port << at * width for at, port in enumerate(draw.route))
    given = {"vc": layout.vc, "dest": layout.node, "src": layout.node, "tree": layout.tree}
    numbers = {name: (bits, draw.numbers[name]) for name, bits in given.items()}
    return numbers | {
        "kind": (3, draw.kind),
        "route": ((layout.hops + 1) * width, route),
        "data": (layout.data, draw.data | draw.above * is_full),
    }


def asked(
    folder: Path,
    module: str,
    layout: FlitFormat,
    cases: list[dict[str, tuple[int, int]]],
    shown: list[str],
    text: str | None = None,
) -> list[dict[str, int]]:
    """What a module answers for inputs, evaluated by Yosys; `text` in place of its own. ValueError for one that Yosys refuses."""
    name = f"certree_flit_{module}"
    source = folder / f"{name}.sv"
    source.write_text(modules()[f"{name}.sv"].decode() if text is None else text)
    known = re.findall(r"parameter +int unsigned (\w+)", source.read_text())
    chosen = " ".join(f"-chparam {key} {value}" for key, value in parameters(layout).items() if key in known)
    lines = [f"read_verilog -sv {source.name}", f"hierarchy -check -top {name} {chosen}", "proc", "opt_expr", "opt_clean"]
    for case in cases:
        sets = " ".join(f"-set {key} {bits}'b{value:0{bits}b}" for key, (bits, value) in case.items())
        lines.append(f"eval {sets} " + " ".join(f"-show {key}" for key in shown))
    (folder / "ask.ys").write_text("\n".join(lines) + "\n")
    done = subprocess.run(["yosys", "-s", "ask.ys"], cwd=folder, capture_output=True, text=True, check=False)
    found = re.findall(r"Eval result: \\(\w+) = \d+'(?:b|)([01x]+|\S+)\.", done.stdout)
    if done.returncode or len(found) != len(cases) * len(shown):
        raise ValueError(done.stderr[-500:] or done.stdout[-500:])
    answers = [(key, int(bits.replace("x", "0"), 2)) for key, bits in found]
    return [dict(answers[at : at + len(shown)]) for at in range(0, len(answers), len(shown))]
