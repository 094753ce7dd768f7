"""StableHLO modules of others and of certree, right and wrong ones; faults are told with the operations that made them."""

import re
import subprocess
import sys
from io import BytesIO
from pathlib import Path

import pytest

import certree.api as ct
from certree.extras.xla.check.hlo_checker import HloVerdict, verify_hlo
from certree.extras.xla.model.hlo_child import context, document_of
from certree.extras.xla.model.hlo_reader import module_of, require_text
from certree.models.common.errors import InputError, UndecidedError
from tests.cli.running import certree, json_of
from tests.synth.execution import make

pytest.importorskip("jaxlib", reason="JAX is not installed (certree[jax])")
PROGRAMS = Path(__file__).parent / "programs"


def checked(text: str) -> HloVerdict:
    require_text(text.encode(), "m.mlir")
    return verify_hlo(module_of(document_of(text.encode()), "m.mlir"))


def text_of(name: str) -> str:
    return (PROGRAMS / f"{name}.mlir").read_text()


@pytest.mark.parametrize(
    ("name", "collective", "elements", "permutes"),
    [
        ("ring_all_gather", "all-gather", 20, 7),
        ("two_way_all_gather", "all-gather", 3, 14),
        ("ring_all_reduce", "all-reduce", 3, 14),
        ("doubling_all_reduce", "all-reduce", 12, 3),
        ("doubling_maximum", "all-reduce", 12, 3),
        ("turning_all_to_all", "all-to-all", 3, 7),
        ("tree_broadcast", "broadcast", 5, 3),
    ],
)
def test_programs_of_others(name: str, collective: str, elements: int, permutes: int) -> None:
    found = checked(text_of(name))
    assert found.valid
    sizes = found.sizes()
    assert (str(found.layout.kind), sizes["block_elements"], sizes["permutes"]) == (collective, elements, permutes)
    assert sizes["operation"] == {"doubling_maximum": "max"}.get(name, "sum" if "reduce" in name else None)
    assert found.layout.root == {"tree_broadcast": 3}.get(name)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "wrong_ring_all_gather",
            "o[0] of rank 0 lacks chunk 0 of rank 0 and has chunk 0 of rank 1; made by line 87:"
            " stablehlo.dynamic_update_slice in turn 6 of line 26, after line 45: stablehlo.collective_permute",
        ),
        (
            "wrong_two_way_all_gather",
            "o[15] of rank 0 lacks chunk 1 of rank 7 and has chunk 1 of rank 0; made by line 219: stablehlo.dynamic_update_slice,"
            " after line 193: stablehlo.collective_permute",
        ),
    ],
)
def test_wrong_programs_of_others(name: str, words: str) -> None:
    found = checked(text_of(name))
    assert found.verdict.counts.keys() == {"wrong-data"}
    assert found.verdict.violations[0].message.startswith(words)


def test_a_schedule_on_a_network(tmp_path: Path) -> None:
    """Half of each part goes each way: half of the time of the ring on a ring, which is the bound."""
    one = ct.verify(PROGRAMS / "ring_all_gather.mlir", topology="ring:8")
    two = ct.verify(PROGRAMS / "two_way_all_gather.mlir", topology="ring:8")
    assert one.schedule is not None
    assert two.schedule is not None
    assert (str(one.schedule.bandwidth_time), str(two.schedule.bandwidth_time)) == ("7/8", "7/16")
    assert certree("import", PROGRAMS / "ring_all_gather.mlir", "--topology", "ring:8", "-o", tmp_path / "s.json").code == 0
    assert json_of("verify", tmp_path / "s.json")["valid"]


def test_written_and_read_back(tmp_path: Path) -> None:
    made = make("multitree", "ring:4", "all-reduce")
    assert ct.export_program(made, "stablehlo", tmp_path / "a.mlir", size=1000).valid
    document = json_of("verify", tmp_path / "a.mlir")
    assert (document["valid"], document["kind"], document["messages"], document["operation"]) == (True, "stablehlo", 24, "sum")
    assert (document["block_elements"], document["element"]) == (63, "f32")
    back = ct.import_program(tmp_path / "a.mlir", "ring:4")
    assert (back.transfers, back.bandwidth_time) == (made.transfers, made.bandwidth_time)
    with pytest.raises(InputError, match="is for one size and any machine; limits of sizes and a machine do not apply"):
        ct.export_program(made, "stablehlo", tmp_path / "c.mlir", sizes=(0, 1000))
    with pytest.raises(InputError, match="is for one size and any machine; limits of sizes and a machine do not apply"):
        ct.export_program(made, "stablehlo", tmp_path / "c.mlir", machine="multitree")
    assert not (tmp_path / "c.mlir").exists()


@pytest.mark.parametrize("network", ["torus:2x4", "dgx1"])
def test_the_same_bytes_on_the_command_line(network: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They do not depend on what the environment says of JAX."""
    ct.save(make("multitree", network, "all-reduce"), tmp_path / "s.json")
    for name in ("a", "b"):
        words = ("--format", "stablehlo", "--size", "1000B", "-o", tmp_path / f"{name}.mlir")
        assert certree("export", tmp_path / "s.json", *words).code == 0
        monkeypatch.setenv("JAX_ENABLE_X64", "1")
        monkeypatch.setenv("JAX_USE_SHARDY_PARTITIONER", "0")
    assert (tmp_path / "a.mlir").read_bytes() == (tmp_path / "b.mlir").read_bytes()


def mutants(text: str) -> list[tuple[int, str, str]]:
    """(line, what was done, the text) of texts in which one line is wrong."""
    lines, found = text.split("\n"), list[tuple[int, str, str]]()

    def add(number: int, what: str, line: str) -> None:
        found.append((number + 1, what, "\n".join([*lines[:number], line, *lines[number + 1 :]])))

    for number, line in enumerate(lines):
        if pairs := re.search(r"dense<\[(\[.*?\])\]> : tensor<([0-9]+)x2xi64>", line):
            ends = re.findall(r"[0-9]+, [0-9]+", pairs[1])
            if len(ends) > 2:
                (one, two), (three, four) = (part.split(", ") for part in ends[:2])
                swapped = [f"{one}, {four}", f"{three}, {two}", *ends[2:]]
                add(number, "targets swapped", line.replace(pairs[1], ", ".join(f"[{part}]" for part in swapped)))
                fewer = line.replace(pairs[1], ", ".join(f"[{part}]" for part in ends[1:]))
                add(number, "pair left out", fewer.replace(f"<{pairs[2]}x2x", f"<{int(pairs[2]) - 1}x2x"))
        if constant := re.search(r"constant dense<(-?[0-9]+)> : tensor<u?i32>", line):
            add(number, "other constant", line.replace(f"dense<{constant[1]}>", f"dense<{int(constant[1]) + 1}>"))
        if total := re.search(r"stablehlo\.(add|maximum) (%\w+), %\w+ : (tensor<[0-9x]*xf32>)", line):
            kept = f"stablehlo.reshape {total[2]} : ({total[3]}) -> {total[3]}"
            add(number, "addition left out", line.replace(total[0], kept))
            other = {"add": "maximum", "maximum": "add"}[total[1]]
            add(number, "other operation", line.replace(f"stablehlo.{total[1]}", f"stablehlo.{other}"))
        if part := re.search(r"slice %\w+ \[([1-9][0-9]*):([0-9]+)\]", line):
            add(number, "other slice", line.replace(f"[{part[1]}:{part[2]}]", f"[{int(part[1]) - 1}:{int(part[2]) - 1}]"))
        if "stablehlo.subtract" in line:
            add(number, "other sign", line.replace("stablehlo.subtract", "stablehlo.add"))
    return found


#: of each program: how many of its mutants are wrong, of these those whose line is in the history of the first wrong block, how
#: many compute the same, another collective, and are refused. `faults` has XLA execute all of these
COUNTS = {
    "ring_all_gather": (13, 10, 11, 0, 0),
    "doubling_all_reduce": (10, 9, 2, 0, 0),
    "doubling_maximum": (9, 9, 2, 0, 1),
    "tree_broadcast": (4, 3, 10, 4, 0),
    "turning_all_to_all": (56, 31, 24, 0, 0),
    "two_way_all_gather": (94, 32, 29, 0, 0),
}


def lines_of(told: str) -> set[int]:
    """The lines that an entry of a history names."""
    spans = re.findall(r"(?:lines? |, )([0-9]+)(?:-([0-9]+))?\b", told)
    return {line for first, last in spans for line in range(int(first), int(last or first) + 1)}


@pytest.mark.parametrize("name", COUNTS)
def test_wrong_lines_are_found(name: str) -> None:
    wrong = named = same = other = refused = 0
    right = checked(text_of(name)).layout
    for line, what, text in mutants(text_of(name)):
        try:
            found = checked(text)
        except InputError:
            refused += 1
            continue
        if found.valid:
            same += found.layout == right
            other += found.layout != right
            continue
        wrong += 1
        is_named = any(line in lines_of(one) for one in found.history)
        named += is_named
        if what in ("pair left out", "addition left out", "other operation", "other slice"):
            assert is_named, (line, what, found.verdict.violations[0])
    assert (wrong, named, same, other, refused) == COUNTS[name]


@pytest.mark.parametrize("name", ["ring_all_gather", "wrong_two_way_all_gather", "tree_broadcast"])
def test_programs_are_what_jax_lowers(name: str) -> None:
    pytest.importorskip("jax")
    code = f"from tests.extras.xla.foreign import lowered; print(lowered({name!r}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, cwd=PROGRAMS.parents[3], check=True)
    assert done.stdout.decode() == text_of(name)


HEAD = """module {
  sdy.mesh @mesh = <["d"=2]>
  func.func public @main(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
    %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"d"}, {}]>] out_shardings=[<@mesh, [{"d"}, {}]>] manual_axes={"d"} (%a: tensor<1x4xf32>) {
"""  # noqa: E501
TAIL = """
      sdy.return %r : tensor<1x4xf32>
    } : (tensor<2x4xf32>) -> tensor<2x4xf32>
    return %0 : tensor<2x4xf32>
  }
}
"""
PERMUTE = '%r = "stablehlo.collective_permute"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<1x4xf32>) -> tensor<1x4xf32>'  # noqa: E501
DYNAMIC = "module {\n  func.func public @main(%x: tensor<?xf32>) -> tensor<?xf32> {\n    return %x : tensor<?xf32>\n  }\n}"
REFUSED = {
    "%r = stablehlo.multiply %a, %a : tensor<1x4xf32>": "line 5: stablehlo.multiply of data is not supported; data are moved by",
    '%r = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({\n'
    "^b(%p: tensor<f32>, %q: tensor<f32>):\n"
    "%t = stablehlo.add %p, %q : tensor<f32>\nstablehlo.return %t : tensor<f32>}) : (tensor<1x4xf32>) -> tensor<1x4xf32>": (
        "line 5: stablehlo.all_reduce: how it is done is left to XLA"
    ),
    PERMUTE.replace("[1, 0]", "[1, 1]"): "line 5: duplicate targets not allowed.",
    PERMUTE.replace("[1, 0]", "[1, 2]"): "device 2; there are 2",
    "%z = stablehlo.constant dense<0> : tensor<i32>\n%b = stablehlo.bitcast_convert %a : (tensor<1x4xf32>) -> tensor<1x4xi32>\n"
    "%r = stablehlo.add %a, %a : tensor<1x4xf32>": "line 6: stablehlo.bitcast_convert of data is not supported",
    "%c = stablehlo.compare GT, %a, %a, FLOAT : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xi1>\n"
    "%r = stablehlo.select %c, %a, %a : tensor<1x4xi1>, tensor<1x4xf32>": "line 5: stablehlo.compare: what it compares depends on",
    "%i = stablehlo.convert %a : (tensor<1x4xf32>) -> tensor<1x4xi32>\n%r = stablehlo.add %a, %a : tensor<1x4xf32>": (
        "line 5: stablehlo.convert: data of f32 become i32, which may change them"
    ),
    "%p = stablehlo.partition_id : tensor<ui32>\n%r = stablehlo.while(%v = %a) : tensor<1x4xf32>\ncond {\n"
    "%q = stablehlo.constant dense<0> : tensor<ui32>\n"
    "%t = stablehlo.compare GT, %p, %q : (tensor<ui32>, tensor<ui32>) -> tensor<i1>\n"
    "stablehlo.return %t : tensor<i1>\n} do {\nstablehlo.return %v : tensor<1x4xf32>\n}": (
        "line 6: stablehlo.while: devices end it after different numbers of turns"
    ),
    "%p = stablehlo.partition_id : tensor<ui32>\n%q = stablehlo.convert %p : (tensor<ui32>) -> tensor<i32>\n"
    f'%r = "stablehlo.case"(%q) ({{\n{PERMUTE.replace("%r", "%s")}\nstablehlo.return %s : tensor<1x4xf32>\n}}, {{\n'
    "stablehlo.return %a : tensor<1x4xf32>\n}) : (tensor<i32>) -> tensor<1x4xf32>": (
        "line 7: stablehlo.case: devices take different branches, of which some permute"
    ),
    "%r = stablehlo.nothing %a": "line 5: ",
    "%r = stablehlo.add %a, %b : tensor<1x4xf32>": "line 5: ",
}


@pytest.mark.parametrize("body", REFUSED)
def test_what_is_not_supported_is_refused_with_its_line(body: str) -> None:
    with pytest.raises(InputError) as refused:
        checked(f"{HEAD}{body}{TAIL}")
    assert REFUSED[body] in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (f"{HEAD}{PERMUTE}{TAIL}", DYNAMIC, "line 2: type tensor<?xf32>; expected a tensor with a static shape"),
        (f"{HEAD}{PERMUTE}{TAIL}", DYNAMIC.replace("?", "4"), "1 partitions and 1 replicas, and no computation of each device"),
        ("(%x: tensor<2x4xf32>)", "(%x: tensor<2x4xf32>, %y: tensor<f32>)", "2 arguments; supported are collectives of one array"),
        ('["d"=2]', '["d"=2, "e"=2]', "axis e of the mesh is left to XLA"),
        ("public @main", "private @main", "0 public functions; expected one"),
        ("module {", "module { " + "[" * 300, "brackets are nested 30"),
        ("module {", "module { \0", "neither the text nor the bytecode of a module"),
        ('[{"d"}, {}]>] manual', "[{}, {}]>] manual", "line 4: "),
    ],
)
def test_modules_that_are_refused(old: str, new: str, words: str) -> None:
    text = f"{HEAD}{PERMUTE}{TAIL}"
    assert old in text
    with pytest.raises(InputError) as refused:
        checked(text.replace(old, new))
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("what", ["partitions", "replicas"])
def test_a_program_of_partitions_or_replicas(what: str) -> None:
    """Without a mesh every device executes the whole module."""
    text = (
        f"module attributes {{mhlo.num_{what} = 2 : i32}} {{\n"
        "  func.func public @main(%x: tensor<1x4xf32>) -> tensor<1x4xf32> {\n"
        f"    {PERMUTE.replace('%a', '%x')}\n"
        "    %s = stablehlo.add %x, %r : tensor<1x4xf32>\n    return %s : tensor<1x4xf32>\n  }\n}"
    )
    other_channel = text
    if what == "replicas":
        text = text.replace("handle = 1", "handle = 0")
    else:
        other_channel = text.replace("handle = 1", "handle = 0")
    found = checked(text)
    assert found.valid
    assert (str(found.layout.kind), found.layout.ranks, found.sizes()["block_elements"]) == ("all-reduce", 2, 4)
    with pytest.raises(InputError, match=f"by its channel it is among (replicas|partitions); the devices are {what}"):
        checked(other_channel)
    other = {"partitions": "replicas", "replicas": "partitions"}[what]
    with pytest.raises(InputError, match="2 partitions and 2 replicas"):
        checked(text.replace("{mhlo", f"{{mhlo.num_{other} = 2 : i32, mhlo"))


def test_ranks_are_in_the_order_of_blocks() -> None:
    """The argument is cut along the second of two axes of a mesh first: ranks follow its blocks, not the numbers of devices."""
    text = text_of("doubling_all_reduce")
    turned = (
        text.replace('<["d"=8]>', '<["a"=2, "b"=4]>')
        .replace('{"d"}', '{"b", "a"}', 2)
        .replace('manual_axes={"d"}', 'manual_axes={"a", "b"}')
    )
    found = checked(re.sub(r" \{stablehlo.mesh = .*", "", turned))
    assert found.valid
    assert found.values.executed.rank.tolist() == [0, 2, 4, 6, 1, 3, 5, 7]


def test_loops_without_end_are_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CERTREE_BUDGET", "1/10000")
    body = (
        "%r = stablehlo.while(%v = %a) : tensor<1x4xf32>\ncond {\n%t = stablehlo.constant dense<true> : tensor<i1>\n"
        "stablehlo.return %t : tensor<i1>\n} do {\nstablehlo.return %v : tensor<1x4xf32>\n}"
    )
    with pytest.raises(UndecidedError, match=r"undecided: line [0-9]+: stablehlo\.[a-z]+ and the operations before it"):
        checked(f"{HEAD}{body}{TAIL}")


@pytest.mark.parametrize("damage", ["none", "at 1000", "at 30", "end"])
def test_bytecode(damage: str, tmp_path: Path) -> None:
    """Bytecode is read as its text is; what is damaged, which may end the parser, is refused."""
    from jaxlib.mlir import ir

    written = BytesIO()
    with context():
        ir.Module.parse(text_of("ring_all_gather")).operation.write_bytecode(written)
    data = written.getvalue()
    if damage.startswith("at"):
        place = int(damage[3:])
        data = data[:place] + bytes([data[place] ^ 255]) + data[place + 1 :]
    elif damage == "end":
        data = data[:-300]
    (tmp_path / "m.mlirbc").write_bytes(data)
    done = certree("verify", tmp_path / "m.mlirbc")
    if damage == "none":
        assert done.out.startswith("valid: all-gather of 8 ranks")
    else:
        assert (done.code, done.err.count("\n")) == (2, 1)
        assert done.err.startswith(f"error: {tmp_path / 'm.mlirbc'}: ")


def test_a_file_that_is_no_module(tmp_path: Path) -> None:
    (tmp_path / "m.mlir").write_text("nothing")
    refused = certree("verify", tmp_path / "m.mlir")
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    (tmp_path / "m.mlir").write_text(f"{HEAD}{PERMUTE}{TAIL}".replace("f32", "f23"))
    refused = certree("verify", tmp_path / "m.mlir")
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert "m.mlir: line 3: " in refused.err


def test_a_result_that_all_devices_have() -> None:
    """A result of `out_specs=P()`: an all-reduce, and where only some have the sum no other collective."""
    text = f"{HEAD}{PERMUTE.replace('%r', '%s')}\n%r = stablehlo.add %a, %s : tensor<1x4xf32>{TAIL}"
    text = text.replace('out_shardings=[<@mesh, [{"d"}, {}]>]', "out_shardings=[<@mesh, [{}, {}]>]")
    text = text.replace("-> tensor<2x4xf32>", "-> tensor<1x4xf32>").replace(
        "return %0 : tensor<2x4xf32>", "return %0 : tensor<1x4xf32>"
    )
    found = checked(text)
    assert (found.valid, str(found.layout.kind)) == (True, "all-reduce")
    one_way = text.replace("[[0, 1], [1, 0]]", "[[0, 1]]").replace("tensor<2x2xi64>", "tensor<1x2xi64>")
    wrong = checked(one_way)
    assert (wrong.valid, str(wrong.layout.kind)) == (False, "all-reduce")
    assert wrong.verdict.violations[0].message.startswith("o[0] of rank 0 lacks chunk 0 of rank 1")


def test_arrays_cut_in_two_dimensions() -> None:
    """Ranks are tiles in row-major order, whatever the numbers of devices."""
    far = PERMUTE.replace("[0, 1], [1, 0]", "[0, 2], [2, 0], [1, 3], [3, 1]").replace("2x2xi64", "4x2xi64")
    near = PERMUTE.replace("[0, 1], [1, 0]", "[0, 1], [1, 0], [2, 3], [3, 2]").replace("2x2xi64", "4x2xi64")
    body = (
        f"{near.replace('%r', '%s')}\n%b = stablehlo.add %a, %s : tensor<1x4xf32>\n"
        f"{far.replace('%r', '%t').replace('(%a)', '(%b)')}\n%r = stablehlo.add %b, %t : tensor<1x4xf32>"
    )
    text = f"{HEAD}{body}{TAIL}".replace('["d"=2]', '["a"=2, "b"=2]').replace('[{"d"}, {}]', '[{"b"}, {"a"}]')
    found = checked(text.replace('manual_axes={"d"}', 'manual_axes={"a", "b"}').replace("tensor<2x4xf32>", "tensor<2x8xf32>"))
    assert (found.valid, str(found.layout.kind)) == (True, "all-reduce")
    assert found.values.executed.rank.tolist() == [0, 2, 1, 3]
