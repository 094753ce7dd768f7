"""StableHLO modules that are wrong, though their permutes and sums are those of an all-reduce: none of them is called valid."""

import pytest

from certree.extras.xla.check.hlo_checker import HloVerdict, verify_hlo
from certree.extras.xla.model.hlo_child import document_of
from certree.extras.xla.model.hlo_reader import module_of
from certree.models.common.errors import InputError, UndecidedError

pytest.importorskip("jaxlib", reason="JAX is not installed (certree[jax])")


def permute(result: str, given: str, pairs: str) -> str:
    channel = "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>"
    ends = f"source_target_pairs = dense<{pairs}> : tensor<4x2xi64>"
    kind = "tensor<1x4xf32>"
    return f'{result} = "stablehlo.collective_permute"({given}) <{{{channel}, {ends}}}> : ({kind}) -> {kind}\n'


#: from %a the sum of all four devices, %q; and the number of the device, %me
SUM = (
    permute("%p", "%a", "[[0, 1], [1, 0], [2, 3], [3, 2]]")
    + "%s = stablehlo.add %a, %p : tensor<1x4xf32>\n"
    + permute("%t", "%s", "[[0, 2], [1, 3], [2, 0], [3, 1]]")
    + "%q = stablehlo.add %s, %t : tensor<1x4xf32>\n"
    "%id = stablehlo.partition_id : tensor<ui32>\n"
    "%me = stablehlo.convert %id : (tensor<ui32>) -> tensor<i32>\n"
    "%zero = stablehlo.constant dense<0.0> : tensor<f32>\n"
    "%zeros = stablehlo.constant dense<0.0> : tensor<1x4xf32>\n"
    "%four = stablehlo.iota dim = 0 : tensor<4xi32>\n"
)
HEAD = """module {
  sdy.mesh @mesh = <["d"=4]>
  func.func public @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
    %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"d"}, {}]>] out_shardings=[<@mesh, [{"d"}, {}]>] manual_axes={"d"} (%a: tensor<1x4xf32>) {
"""  # noqa: E501
TAIL = """      sdy.return %r : tensor<1x4xf32>
    } : (tensor<4x4xf32>) -> tensor<4x4xf32>
    return %0 : tensor<4x4xf32>
  }
}
"""
RIGHT = "%r = stablehlo.add %q, %zeros : tensor<1x4xf32>\n"


def checked(text: str) -> HloVerdict:
    return verify_hlo(module_of(document_of(text.encode()), "m.mlir"))


def program(body: str) -> str:
    return f"{HEAD}{SUM}{body}{TAIL}"


def constant(name: str, value: str, element: str = "i32") -> str:
    return f"{name} = stablehlo.constant dense<{value}> : tensor<{element}>\n"


def converted(name: str, given: str, before: str, after: str) -> str:
    return f"{name} = stablehlo.convert {given} : (tensor<{before}>) -> tensor<{after}>\n"


def only_if(value: int, made: str) -> str:
    """The sum where the number %v that is made is this one, zeros elsewhere."""
    return (
        f"{made}{constant('%due', str(value))}"
        "%is = stablehlo.compare EQ, %v, %due, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
        "%r = stablehlo.select %is, %q, %zeros : tensor<i1>, tensor<1x4xf32>\n"
    )


def scattered(body: str) -> str:
    numbers = "#stablehlo.scatter<update_window_dims = [0, 1], scatter_dims_to_operand_dims = [0]>"
    return (
        "%i = stablehlo.constant dense<0> : tensor<1xi32>\n"
        f'%r = "stablehlo.scatter"(%s, %i, %t) <{{scatter_dimension_numbers = {numbers}, unique_indices = true}}> ({{\n'
        f"^b(%l: tensor<f32>, %m: tensor<f32>):\n%n = stablehlo.add %l, %m : tensor<f32>\n{body}\n}})"
        " : (tensor<1x4xf32>, tensor<1xi32>, tensor<1x4xf32>) -> tensor<1x4xf32>\n"
    )


def reduced(body: str) -> str:
    return constant("%ten", "10") + (
        '%v = "stablehlo.reduce"(%four, %ten) <{dimensions = array<i64: 0>}> ({\n^b(%l: tensor<i32>, %m: tensor<i32>):\n'
        f"{body}\n}}) : (tensor<4xi32>, tensor<i32>) -> tensor<i32>\n"
    )


NEITHER = "stablehlo.scatter: it neither replaces what is there nor adds to it"
REDUCED = "stablehlo.reduce: supported are reductions of numbers that are known, by one operation of two of them"
ROUNDED = "does not have exactly, which are rounded"
#: by name the body, and why it is refused
BODIES = {
    "filling by device": (
        converted("%f", "%me", "i32", "f32") + "%e = stablehlo.pad %q, %f, low=[0, 1], high=[0, -1], interior=[0, 0]"
        " : (tensor<1x4xf32>, tensor<f32>) -> tensor<1x4xf32>\n"
        "%k = stablehlo.slice %e [0:1, 0:1] : (tensor<1x4xf32>) -> tensor<1x1xf32>\n"
        "%w = stablehlo.pad %k, %zero, low=[0, 0], high=[0, 3], interior=[0, 0]"
        " : (tensor<1x1xf32>, tensor<f32>) -> tensor<1x4xf32>\n"
        "%r = stablehlo.add %q, %w : tensor<1x4xf32>\n",
        "stablehlo.pad: its filling differs by device",
    ),
    "scatter that keeps": (scattered("stablehlo.return %l : tensor<f32>"), NEITHER),
    "scatter that replaces": (scattered("stablehlo.return %m : tensor<f32>"), NEITHER),
    "reduction that keeps": (
        only_if(16, reduced("%n = stablehlo.add %l, %m : tensor<i32>\nstablehlo.return %m : tensor<i32>")),
        REDUCED,
    ),
    "reduction of one twice": (
        only_if(16, reduced("%n = stablehlo.add %l, %l : tensor<i32>\nstablehlo.return %n : tensor<i32>")),
        REDUCED,
    ),
    "reduction that subtracts": (
        only_if(4, reduced("%n = stablehlo.subtract %m, %l : tensor<i32>\nstablehlo.return %n : tensor<i32>")),
        REDUCED,
    ),
    "rounded to f32": (
        only_if(16777217, constant("%c", "16777217") + converted("%f", "%c", "i32", "f32") + converted("%v", "%f", "f32", "i32")),
        ROUNDED,
    ),
    "rounded to bf16": (
        only_if(257, constant("%c", "257") + converted("%f", "%c", "i32", "bf16") + converted("%v", "%f", "bf16", "i32")),
        ROUNDED,
    ),
    "rounded to whole numbers": (only_if(3, constant("%c", "2.7", "f32") + converted("%v", "%c", "f32", "i32")), ROUNDED),
    "too large for i32": (only_if(-(1 << 31), constant("%c", "3.0e9", "f32") + converted("%v", "%c", "f32", "i32")), ROUNDED),
    "not a number": (only_if(1, constant("%c", "0x7FC00000", "f32") + converted("%v", "%c", "f32", "i32")), ROUNDED),
    "total order": (
        only_if(
            0,
            constant("%c", "-0.0", "f32")
            + "%e = stablehlo.compare LT, %c, %zero, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
            + converted("%v", "%e", "i1", "i32"),
        ),
        "stablehlo.compare: the total order of floating-point numbers is not supported",
    ),
    "numbers of four bits": (
        only_if(
            8,
            constant("%c", "7", "i4")
            + constant("%o", "1", "i4")
            + "%e = stablehlo.add %c, %o : tensor<i4>\n"
            + converted("%v", "%e", "i4", "i32"),
        ),
        "stablehlo.constant: numbers of type i4, which are not supported",
    ),
    "negative exponent": (
        only_if(0, constant("%c", "1") + constant("%o", "-1") + "%v = stablehlo.power %c, %o : tensor<i32>\n"),
        "stablehlo.power: a power with a negative exponent",
    ),
}


def test_the_right_one() -> None:
    """What the wrong ones are made of is right, with a body of a scatter or a reduction that is known, too."""
    assert checked(program(RIGHT)).valid
    assert checked(program(scattered("stablehlo.return %n : tensor<f32>"))).valid
    body = "%n = stablehlo.add %l, %m : tensor<i32>\nstablehlo.return %n : tensor<i32>"
    assert checked(program(only_if(16, reduced(body)))).valid


@pytest.mark.parametrize("name", BODIES)
def test_wrong_bodies_are_refused(name: str) -> None:
    body, words = BODIES[name]
    with pytest.raises(InputError) as refused:
        checked(program(body))
    assert words in str(refused.value)
    assert str(refused.value).startswith("line ")


CUT = "an array that is not cut along all axes of the mesh"
CUTS = 'in_shardings=[<@mesh, [{"d"}, {}]>] out_shardings=[<@mesh, [{"d"}, {}]>]'
MESH = '<["a"=2, "b"=2]>'
#: (what is replaced by what in the right text, ..., why it is refused)
MODULES: dict[str, tuple[dict[str, str], str]] = {
    "the argument is returned": ({"return %0 :": "return %x :"}, "its result is not what the devices compute"),
    "a constant is returned": (
        {"    return %0 :": "    %1 = stablehlo.constant dense<0.0> : tensor<4x4xf32>\n    return %1 :"},
        "its result is not what the devices compute",
    ),
    "another result is returned": (
        {
            "%0 = sdy": "%0:2 = sdy",
            "return %0 :": "return %0#1 :",
            'out_shardings=[<@mesh, [{"d"}, {}]>]': 'out_shardings=[<@mesh, [{"d"}, {}]>, <@mesh, [{"d"}, {}]>]',
            "sdy.return %r : tensor<1x4xf32>": "sdy.return %r, %zeros : tensor<1x4xf32>, tensor<1x4xf32>",
            "} : (tensor<4x4xf32>) -> tensor<4x4xf32>": "} : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>)",
        },
        "2 results of the devices; supported are collectives of one array",
    ),
    "the result is cut in another order": (
        {
            '<["d"=4]>': MESH,
            CUTS: 'in_shardings=[<@mesh, [{"a", "b"}, {}]>] out_shardings=[<@mesh, [{"b", "a"}, {}]>]',
            'manual_axes={"d"}': 'manual_axes={"a", "b"}',
        },
        "its result is cut along other axes of the mesh than its argument",
    ),
    "the result is cut along axes that are exchanged": (
        {
            '<["d"=4]>': MESH,
            CUTS: 'in_shardings=[<@mesh, [{"a"}, {"b"}]>] out_shardings=[<@mesh, [{"b"}, {"a"}]>]',
            'manual_axes={"d"}': 'manual_axes={"a", "b"}',
            "4x4xf32": "2x8xf32",
        },
        "its result is cut along other axes of the mesh than its argument",
    ),
    "the argument is not cut": (
        {CUTS: "in_shardings=[<@mesh, [{}, {}]>] out_shardings=[<@mesh, [{}, {}]>]", "4x4xf32": "1x4xf32"},
        CUT,
    ),
    "the result is left to XLA to add up": (
        {
            'out_shardings=[<@mesh, [{"d"}, {}]>]': 'out_shardings=[<@mesh, [{}, {}], unreduced={"d"}>]',
            "-> tensor<4x4xf32>": "-> tensor<1x4xf32>",
            "return %0 : tensor<4x4xf32>": "return %0 : tensor<1x4xf32>",
        },
        "an array that is left to XLA to add up",
    ),
    "the number of a device outside": (
        {"    %0 = sdy": "    %1 = stablehlo.partition_id : tensor<ui32>\n    %0 = sdy"},
        "line 4: stablehlo.partition_id: it is outside of what each device computes",
    ),
    "another type is returned": (
        {
            "sdy.return %r : tensor<1x4xf32>": (
                "%y = stablehlo.convert %r : (tensor<1x4xf32>) -> tensor<1x4xbf16>\nsdy.return %y : tensor<1x4xbf16>"
            ),
            "-> tensor<4x4xf32>": "-> tensor<4x4xbf16>",
            "return %0 : tensor<4x4xf32>": "return %0 : tensor<4x4xbf16>",
        },
        "devices are given f32 and return bf16",
    ),
}


@pytest.mark.parametrize("name", MODULES)
def test_wrong_modules_are_refused(name: str) -> None:
    changes, words = MODULES[name]
    text = program(RIGHT)
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    with pytest.raises(InputError) as refused:
        checked(text)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("sharding", ["", ' {mhlo.sharding = "{devices=[4,1]<=[4]}"}'])
def test_arrays_that_xla_cuts(sharding: str) -> None:
    """Without a mesh a sharding of an argument says that XLA cuts it; then the devices do not each have the whole of it."""
    kind = f"tensor<1x4xf32>{sharding}"
    text = (
        f"module attributes {{mhlo.num_partitions = 4 : i32}} {{\nfunc.func public @main(%a: {kind}) -> ({kind}) {{\n"
        f"{SUM}return %q : tensor<1x4xf32>\n}}\n}}"
    )
    if not sharding:
        assert checked(text).valid
        return
    with pytest.raises(InputError, match="line 2: arrays with a sharding, which XLA cuts, without a mesh"):
        checked(text)


def test_bounds_by_device() -> None:
    """A bound of a clamp that differs by device holds for all elements of that device, as XLA does it."""
    body = (
        constant("%nine", "9")
        + "%c = stablehlo.clamp %me, %four, %nine : (tensor<i32>, tensor<4xi32>, tensor<i32>) -> tensor<4xi32>\n"
        "%e = stablehlo.compare EQ, %c, %four, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>\n"
        "%k = stablehlo.reshape %e : (tensor<4xi1>) -> tensor<1x4xi1>\n"
        "%r = stablehlo.select %k, %q, %zeros : tensor<1x4xi1>, tensor<1x4xf32>\n"
    )
    found = checked(program(body))
    assert found.verdict.counts == {"wrong-data": 6}
    assert found.verdict.violations[0].message.startswith("o[0] of rank 1 lacks chunk 0 of rank 0, chunk 0 of rank 1")


def test_large_unsigned_indices() -> None:
    """XLA takes them as before the start where they are constants, and beyond the end where they are computed."""
    for number, element in (("18446744073709551615", "ui64"), ("4294967295", "ui32"), ("128", "ui8")):
        made = constant("%c", number, element) + (
            f"%e = stablehlo.dynamic_slice %four, %c, sizes = [1] : (tensor<4xi32>, tensor<{element}>) -> tensor<1xi32>\n"
            "%v = stablehlo.reshape %e : (tensor<1xi32>) -> tensor<i32>\n"
        )
        with pytest.raises(InputError, match=f"stablehlo.dynamic_slice: an unsigned index of {number}"):
            checked(program(only_if(3, made)))
        assert checked(program(only_if(2, made.replace(number, "2")))).valid


def test_types_that_data_go_through_are_told() -> None:
    body = (
        "%h = stablehlo.convert %q : (tensor<1x4xf32>) -> tensor<1x4xbf16>\n"
        "%r = stablehlo.convert %h : (tensor<1x4xbf16>) -> tensor<1x4xf32>\n"
    )
    assert checked(program(body)).sizes()["converted"] == ["bf16", "f32"]
    assert checked(program(RIGHT)).sizes()["converted"] == []


def test_a_history_beyond_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is wrong stays so."""

    def spent(*_: object) -> None:
        raise UndecidedError("undecided")

    monkeypatch.setattr("certree.extras.xla.check.hlo_checker.history", spent)
    found = checked(program("%r = stablehlo.add %q, %a : tensor<1x4xf32>\n"))
    assert (found.valid, found.history) == (False, ())
    assert found.verdict.violations[0].message.endswith("stablehlo.add adds chunk 0 of rank 0 a second time")


HUGE = "4611686018427387904"
#: modules that ended with a traceback, and what they are told now
CRASHES = {
    "blocks of constants": ("%r = stablehlo.multiply %zeros, %zeros : tensor<1x4xf32>\n", "computes with constants of f32"),
    "too many elements": (f"{RIGHT}%b = stablehlo.constant dense<0> : tensor<{HUGE}xi32>\n", "elements at most"),
    "too many axes": (f"{RIGHT}%b = stablehlo.constant dense<0> : tensor<{'1x' * 70}i32>\n", "supported are tensors of 24 axes"),
    "i2": (f"{RIGHT}%b = stablehlo.iota dim = 0 : tensor<4xi2>\n", "stablehlo.iota: numbers of type i2, which are not supported"),
}


@pytest.mark.parametrize("name", CRASHES)
def test_what_is_too_large_is_told_in_one_line(name: str) -> None:
    body, words = CRASHES[name]
    with pytest.raises(InputError) as refused:
        checked(program(body))
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_calls_without_end() -> None:
    function = (
        "  func.func private @f(%y: tensor<i1>) -> tensor<i1> {\n"
        '    %z = "stablehlo.if"(%y) ({\n      %c = func.call @f(%y) : (tensor<i1>) -> tensor<i1>\n'
        "      stablehlo.return %c : tensor<i1>\n    }, {\n"
        "      stablehlo.return %y : tensor<i1>\n    }) : (tensor<i1>) -> tensor<i1>\n"
        "    return %z : tensor<i1>\n  }\n}\n"
    )
    body = RIGHT + constant("%y", "true", "i1") + "%z = func.call @f(%y) : (tensor<i1>) -> tensor<i1>\n"
    with pytest.raises(InputError, match="more than 120 calls, loops and branches in each other"):
        checked(program(body).removesuffix("}\n") + function)


def test_loops_without_operations_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CERTREE_BUDGET", "1/10000")
    body = (
        f"{constant('%y', 'true', 'i1')}%r = stablehlo.while(%v = %q) : tensor<1x4xf32>\ncond {{\n"
        "stablehlo.return %y : tensor<i1>\n} do {\nstablehlo.return %v : tensor<1x4xf32>\n}\n"
    )
    with pytest.raises(UndecidedError, match=r"undecided: line [0-9]+: stablehlo\.while"):
        checked(program(body))


def test_an_axis_of_the_mesh_for_each_device_number() -> None:
    """A mesh of more axes than an array of numpy can have."""
    ones = ", ".join(f'"o{one}"=1' for one in range(70))
    names = ", ".join(f'"o{one}"' for one in range(70))
    text = program(RIGHT).replace('<["d"=4]>', f'<["d"=4, {ones}]>').replace('manual_axes={"d"}', f'manual_axes={{"d", {names}}}')
    assert checked(text).valid
