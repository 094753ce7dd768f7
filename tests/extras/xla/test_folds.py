"""Loops of which one turn stands for all: the verdict of all turns, and only where turns do the same on parts of their own."""

import pytest

from certree.extras.xla.check.hlo import devices, folds
from certree.extras.xla.check.hlo_checker import HloVerdict, verify_hlo
from certree.extras.xla.model.hlo_child import document_of
from certree.extras.xla.model.hlo_reader import module_of
from certree.models.common.errors import InputError
from certree.models.schedule.collective import CollectiveKind

pytest.importorskip("jaxlib")
TURNS = 5
LOOP = """module {
  sdy.mesh @mesh = <["d"=2]>
  func.func public @main(%given: tensor<2x10xf32>) -> tensor<2x10xf32> {
    %0 = sdy.manual_computation(%given) in_shardings=[<@mesh, [{"d"}, {}]>] out_shardings=[<@mesh, [{"d"}, {}]>] manual_axes={"d"} (%mine: tensor<1x10xf32>) {
      %whole = stablehlo.reshape %mine : (tensor<1x10xf32>) -> tensor<5x2xf32>
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %last = stablehlo.constant dense<4> : tensor<i32>
      %begin = stablehlo.constant dense<0.0> : tensor<5x2xf32>
      %end:3 = stablehlo.while(%i = %zero, %x = %whole, %kept = %begin) : tensor<i32>, tensor<5x2xf32>, tensor<5x2xf32>
      cond {
        %most = stablehlo.constant dense<5> : tensor<i32>
        %goes = stablehlo.compare LT, %i, %most, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %goes : tensor<i1>
      } do {
        %from = stablehlo.add %i, %zero : tensor<i32>
        %to = stablehlo.add %i, %zero : tensor<i32>
        %part = stablehlo.dynamic_slice %x, %from, %zero, sizes = [1, 2] : (tensor<5x2xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
        %came = "stablehlo.collective_permute"(%part) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<1x2xf32>) -> tensor<1x2xf32>
        %sum = stablehlo.add %part, %came : tensor<1x2xf32>
        %now = stablehlo.dynamic_update_slice %kept, %sum, %to, %zero : (tensor<5x2xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<5x2xf32>
        %step = stablehlo.constant dense<1> : tensor<i32>
        %next = stablehlo.add %i, %step : tensor<i32>
        stablehlo.return %next, %x, %now : tensor<i32>, tensor<5x2xf32>, tensor<5x2xf32>
      }
      %out = stablehlo.reshape %end#2 : (tensor<5x2xf32>) -> tensor<1x10xf32>
      sdy.return %out : tensor<1x10xf32>
    } : (tensor<2x10xf32>) -> tensor<2x10xf32>
    return %0 : tensor<2x10xf32>
  }
}
"""  # noqa: E501
SUM = "%sum = stablehlo.add %part, %came : tensor<1x2xf32>"
FROM, TO = (f"%{name} = stablehlo.add %i, %zero : tensor<i32>" for name in ("from", "to"))
ROW = "(tensor<5x2xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>"
GOES = next(line.strip() for line in LOOP.splitlines() if "%goes = " in line)
PERMUTE = next(line.strip() for line in LOOP.splitlines() if "collective_permute" in line)


def turned(line: str) -> str:
    """A number counted from the end."""
    return line.replace("add %i, %zero", "subtract %last, %i")


def summed(more: str) -> str:
    """A sum with one summand more."""
    return f"{SUM.replace('%sum', '%two')}\n{more}\n%sum = stablehlo.add %two, %more : tensor<1x2xf32>"


#: what is changed, by what it is: (the changes, whether a turn stands for all, whether the result is an all-reduce)
CASES = {
    "the loop": ({}, True, True),
    "from the end to the end": ({FROM: turned(FROM), TO: turned(TO)}, True, True),
    "from the begin to the end": ({TO: turned(TO)}, False, False),
    "each one place too far": ({TO: TO.replace("%zero", "%one")}, False, False),
    "a turn sends nothing back": (
        {PERMUTE: PERMUTE.replace("[[0, 1], [1, 0]]", "[[0, 1]]").replace("<2x2xi64", "<1x2xi64")},
        True,
        False,
    ),
    "what it keeps is read where it is written": (
        {SUM: summed(f"%more = stablehlo.dynamic_slice %kept, %i, %zero, sizes = [1, 2] : {ROW}")},
        False,
        True,
    ),
    "what another turn kept is read": (
        {SUM: summed(f"%more = stablehlo.dynamic_slice %kept, %zero, %zero, sizes = [1, 2] : {ROW}")},
        False,
        False,
    ),
    "what another turn reads is read": (
        {SUM: summed(f"%more = stablehlo.dynamic_slice %x, %zero, %zero, sizes = [1, 2] : {ROW}")},
        False,
        False,
    ),
    "data from outside of the loop": (
        {SUM: summed("%more = stablehlo.slice %whole [0:1, 0:2] : (tensor<5x2xf32>) -> tensor<1x2xf32>")},
        False,
        False,
    ),
    "a turn does something else": (
        {
            SUM: f"{SUM.replace('%sum', '%two')}\n"
            "%first = stablehlo.compare EQ, %i, %zero, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
            "%sum = stablehlo.select %first, %two, %part : tensor<i1>, tensor<1x2xf32>"
        },
        False,
        False,
    ),
    "it ends by what turns keep": (
        {
            GOES: f"{GOES.replace('%goes', '%less')}\n"
            "%cell = stablehlo.slice %kept [0:1, 0:1] : (tensor<5x2xf32>) -> tensor<1x1xf32>\n"
            "%value = stablehlo.reshape %cell : (tensor<1x1xf32>) -> tensor<f32>\n"
            "%none = stablehlo.constant dense<0.0> : tensor<f32>\n"
            "%still = stablehlo.compare EQ, %value, %none : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
            "%goes = stablehlo.and %less, %still : tensor<i1>"
        },
        None,
        False,
    ),
    "a turn takes another branch": (
        {
            SUM: f"{SUM.replace('%sum', '%two')}\n"
            '%sum = "stablehlo.case"(%i) ({\nstablehlo.return %two : tensor<1x2xf32>\n}, {\n'
            "stablehlo.return %part : tensor<1x2xf32>\n}) : (tensor<i32>) -> tensor<1x2xf32>"
        },
        False,
        False,
    ),
    "a loop in it that depends on the turn": (
        {
            SUM: "%sum, %k = stablehlo.while(%a = %part, %j = %zero) : tensor<1x2xf32>, tensor<i32>\ncond {\n"
            "%t = stablehlo.compare LE, %j, %i, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
            "stablehlo.return %t : tensor<i1>\n} do {\n"
            "%b = stablehlo.add %a, %came : tensor<1x2xf32>\n%l = stablehlo.add %j, %one : tensor<i32>\n"
            "stablehlo.return %b, %l : tensor<1x2xf32>, tensor<i32>\n}"
        },
        False,
        False,
    ),
    "data go from turn to turn": (
        {
            SUM: f"{SUM}\n%other = {PERMUTE.partition(' = ')[2].replace('%part', '%x').replace('1x2xf32', '5x2xf32')}",
            "return %next, %x": "return %next, %other",
        },
        False,
        True,
    ),
    "sums after the loop": (
        {
            SUM: "%sum = stablehlo.reshape %part : (tensor<1x2xf32>) -> tensor<1x2xf32>",
            "%out = stablehlo.reshape %end#2 : (tensor<5x2xf32>) -> tensor<1x10xf32>": (
                f"%flat = stablehlo.reshape %end#2 : (tensor<5x2xf32>) -> tensor<1x10xf32>\n"
                f"%far = {PERMUTE.partition(' = ')[2].replace('%part', '%flat').replace('1x2xf32', '1x10xf32')}\n"
                "%out = stablehlo.add %flat, %far : tensor<1x10xf32>"
            ),
        },
        False,
        True,
    ),
}


def checked(name: str, kind: CollectiveKind | None = None) -> HloVerdict:
    text = LOOP
    for old, new in CASES[name][0].items():
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return verify_hlo(module_of(document_of(text.encode()), "m.mlir"), kind)


@pytest.mark.parametrize("name", CASES)
def test_the_verdict_is_that_of_all_turns(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _, is_folded, is_right = CASES[name]
    if is_folded is None:
        with pytest.raises(InputError, match="what it compares depends on the data of a message"):
            checked(name)
        return
    found = checked(name)
    turns = found.values.executed.turns
    assert (None if turns is None else turns.count) == (TURNS if is_folded else None)
    assert (found.valid and str(found.layout.kind) == "all-reduce") is is_right
    monkeypatch.setattr(devices, "FOLDS", False)
    whole = checked(name)
    assert whole.values.executed.turns is None
    assert (whole.valid, whole.layout.kind) == (found.valid, found.layout.kind)
    count = TURNS if is_folded else 1
    assert whole.verdict.counts == {rule: count * times for rule, times in found.verdict.counts.items()}
    assert whole.values.executed.permutes == found.values.executed.permutes
    assert whole.values.executed.sent.tolist() == found.values.executed.sent.tolist()
    if found.valid:
        assert whole.sizes()["messages"] == found.sizes()["messages"]


#: a loop that ends by a flag that a turn computes, and one by a number that doubles
ENDS = {
    "a flag": (
        ("%zero, %x = %whole, %kept = %begin) : tensor<i32>,", "%zero, %x = %whole, %kept = %begin, %go = %yes) : tensor<i32>,"),
        ("tensor<5x2xf32>, tensor<5x2xf32>\n      cond", "tensor<5x2xf32>, tensor<5x2xf32>, tensor<i1>\n      cond"),
        ("stablehlo.return %goes", "stablehlo.return %go"),
        ("%end:3", "%yes = stablehlo.constant dense<true> : tensor<i1>\n      %end:4"),
        ("stablehlo.return %next, %x, %now : tensor<i32>, tensor<5x2xf32>, tensor<5x2xf32>",
         "%five = stablehlo.constant dense<5> : tensor<i32>\n"
            "%on = stablehlo.compare LT, %next, %five, SIGNED : (tensor<i32>, tensor<i32>)"
         " -> tensor<i1>\nstablehlo.return %next, %x, %now, %on : tensor<i32>, tensor<5x2xf32>, tensor<5x2xf32>, tensor<i1>"),
    ),
    "a number that doubles": (
        ("%zero, %x = %whole, %kept = %begin) : tensor<i32>,", "%zero, %x = %whole, %kept = %begin, %go = %one) : tensor<i32>,"),
        ("tensor<5x2xf32>, tensor<5x2xf32>\n      cond", "tensor<5x2xf32>, tensor<5x2xf32>, tensor<i32>\n      cond"),
        ("stablehlo.constant dense<5> : tensor<i32>", "stablehlo.constant dense<32> : tensor<i32>"),
        ("compare LT, %i, %most", "compare LT, %go, %most"),
        ("%end:3", "%end:4"),
        ("stablehlo.return %next, %x, %now : tensor<i32>, tensor<5x2xf32>, tensor<5x2xf32>",
         "%more = stablehlo.add %go, %go : tensor<i32>\n"
         "stablehlo.return %next, %x, %now, %more : tensor<i32>, tensor<5x2xf32>, tensor<5x2xf32>, tensor<i32>"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ENDS)
def test_loops_that_end_by_something_else(name: str) -> None:
    text = LOOP
    for old, new in ENDS[name]:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    found = verify_hlo(module_of(document_of(text.encode()), "m.mlir"))
    assert found.valid
    assert found.values.executed.turns is None


def test_too_much_for_all_turns_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Turns one after the other need the memory of one."""
    monkeypatch.setattr(folds, "MOST_BYTES", 100)
    found = checked("the loop")
    assert (found.valid, found.values.executed.turns) == (True, None)


def test_what_is_wrong_in_each_turn_is_told_once() -> None:
    found = checked("a turn sends nothing back", CollectiveKind.ALL_REDUCE)
    message = found.verdict.violations[0].message
    assert message.startswith("o[0] of rank 0 lacks chunk 0 of rank 1, in each of 5 turns of a loop; made by line ")
    assert any("collective_permute" in one or "stablehlo.add" in one for one in found.history)
