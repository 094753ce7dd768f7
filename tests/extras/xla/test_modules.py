"""Modules for JAX without JAX: what they do, bytes written twice, read back, and refused with one line."""

from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

import certree.api as ct
from certree.extras.xla.check.permute_checker import verify_permutes
from certree.extras.xla.make.permutes import lower_to_permutes
from certree.extras.xla.model.jax_module import read_module, written_module
from certree.extras.xla.model.packed import packed
from certree.extras.xla.model.permute_program import PermuteProgram
from certree.models.common.errors import InputError, UnsupportedError
from certree.models.schedule.symmetric.symmetric_schedule import written_out
from tests.cli.running import certree, json_of
from tests.end_to_end.composition.forms import FORMS
from tests.extras.runtimes.make.test_round_trips import METHODS
from tests.extras.xla.permute_interpreter import outputs
from tests.synth.execution import make

ROOTED = ("broadcast", "reduce", "gather", "scatter")
REDUCING = ("reducing", "fine-reducing")


def program(network: str = "torus:2x4", collective: str = "all-reduce") -> PermuteProgram:
    root = 1 if collective in ROOTED else None
    return lower_to_permutes(written_out(make(METHODS[collective], network, collective, root=root)))


def agrees(found: PermuteProgram) -> bool:
    """Whether the outputs on drawn numbers are those that are due."""
    layout = found.layout
    drawn = np.random.default_rng(1).integers(-1000, 1000, (found.ranks, max(layout.sizes(rank)[0] for rank in range(found.ranks))))
    done = outputs(found, drawn)
    return all(
        done[rank, offset] == sum(drawn[part] for part in due)
        for rank in range(found.ranks)
        for offset, due in enumerate(layout.due(rank))
    )


@pytest.mark.parametrize("form", [form for form in FORMS if form not in REDUCING])
def test_every_form(form: str, tmp_path: Path) -> None:
    """Written, read back, the same bytes again; the interpreter agrees with the checker, and with the demand where there is one."""
    FORMS[form].write(tmp_path)
    made = lower_to_permutes(written_out(ct.load(tmp_path / "s.json")))
    data = written_module(made)
    back = read_module(data, "m.py")
    assert written_module(back) == data
    assert verify_permutes(back).valid
    assert agrees(back)


@pytest.mark.parametrize("collective", METHODS)
@pytest.mark.parametrize("network", ["ring:5", "mesh:2x3", "dgx1", "fattree:2x2"])
def test_every_collective(network: str, collective: str) -> None:
    assert agrees(program(network, collective))


def test_the_template_is_the_module_of_a_ring_of_two() -> None:
    template = (files("certree.extras.xla.device") / "template.py").read_bytes()
    assert written_module(lower_to_permutes(written_out(make("ring", "ring:2", "all-reduce")))) == template


def test_a_step_never_has_more_permutes_than_a_device_has_messages() -> None:
    schedule = make("multitree", "torus:3x3", "all-reduce")
    most = 0
    for step in np.unique(schedule.step):
        rows = schedule.step == step
        most += max(np.bincount(schedule.src[rows]).max(), np.bincount(schedule.dst[rows]).max())
    assert lower_to_permutes(schedule).permutes == most


def _changed(found: PermuteProgram, table: str, rows: np.ndarray, value: int) -> PermuteProgram:
    one = found.stretches[0]
    numbers = getattr(one, table).copy()
    numbers.reshape(-1)[rows] = value
    return replace(found, stretches=(replace(one, **{table: numbers}), *found.stretches[1:]))


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("table", ["send", "take", "put"])
def test_one_other_number_of_a_table_is_found_or_changes_nothing(table: str, seed: int) -> None:
    """The checker accuses a changed program exactly where the interpreter gives other outputs on drawn numbers."""
    found = program("mesh:2x3")
    drawn, numbers = np.random.default_rng(seed), getattr(found.stretches[0], table)
    limit = {"send": found.load.shape[1], "take": found.width * found.depth, "put": 3 * found.load.shape[1]}[table]
    wrong = _changed(found, table, drawn.integers(numbers.size, size=1), int(drawn.integers(limit)))
    assert verify_permutes(wrong).valid is agrees(wrong)


def test_what_is_wrong_is_said() -> None:
    found = program("mesh:2x3")
    silent = _changed(found, "put", np.arange(found.stretches[0].put.size), 0)
    verdict = verify_permutes(silent)
    assert verdict.verdict.counts.keys() == {"wrong-data"}
    assert "lacks chunk" in verdict.verdict.violations[0].message


TEXT = written_module(lower_to_permutes(written_out(make("ring", "ring:2", "all-reduce")))).decode()
PACKED = packed(np.array([0, 1]), as_list=False)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("mode == 2, value", "mode == 1, value", r"line [0-9]+ is ' +new = jnp.where\(mode == 1, value, old\)'"),
        ("import jax\n", "import os\n", "the lines before the constants are not those"),
        ('"all-reduce", 2', '"all-reduce", 3', "LOAD has 2 rows; expected one for each of 3 ranks"),
        ('"all-reduce", 2', '"sum", 2', "unknown collective"),
        ('"all-reduce", 2', '"alltoallv", 2', "line 5[0-9] is 'def all_reduce"),
        ("(0, 1), (1, 0)", "(0, 1), (1, 1)", "a device receives twice"),
        ("(0, 1), (1, 0)", "(0, 1), (1, 2)", "or there is none"),
        ("LOAD = [[0, 1]", "LOAD = [[0, 2]", "a number of the input is 2; allowed: -1 to 1"),
        ("LOAD = [[0, 1]", "LOAD = [[0, print()]", "not literals of Python"),
        ("STORE = [[0, 1]", "STORE = [[0]", "lists of different lengths"),
        ("DEPTH = 2, 1, 1, 1", "DEPTH = 2, 1, 0, 1", "1 rows in a step; the inbox has 0"),
        ("DEPTH = 2, 1, 1, 1", "DEPTH = 2, 0, 1, 1", "REPEATS is 0; allowed: 1 to"),
        ("None, None, None", "0, None, None", "ROOT is 0; all-reduce has none"),
        ("2, None, None, None", f"2, None, {PACKED}, None", "MEMBERS is .*; expected lists of whole numbers, or None"),
        ("2, None, None, None", f"2, None, None, {PACKED}", "DEMAND is .*; expected lists of whole numbers, or None"),
        ("LOAD = [[0, 1], [0, 1]]", "LOAD = ('u1', (2, 2), 'xx')", "LOAD: the text has other bytes than 4"),
        ("LOAD = [[0, 1], [0, 1]]", "LOAD = ('u8', (2, 2), '')", "expected u1, <i2, <i4"),
        ("# constants of the schedule\n", "", "it lacks the line '# constants"),
        ("differentiable.defvjp(forward, backward)\n", "", "line [0-9]+ is ''"),
    ],
)
def test_other_texts_are_refused(old: str, new: str, words: str) -> None:
    assert old in TEXT
    with pytest.raises(InputError, match=words):
        read_module(TEXT.replace(old, new, 1).encode(), "m.py")


def test_on_the_command_line(tmp_path: Path) -> None:
    made = make("multitree", "torus:2x4", "all-reduce")
    ct.save(made, tmp_path / "s.json")
    done = certree("export", tmp_path / "s.json", "--format", "jax", "-o", tmp_path / "m.py")
    assert done.code == 0
    document = json_of("verify", tmp_path / "m.py")
    assert certree("verify", tmp_path / "m.py", "--collective", "all-reduce").code == 0
    assert certree("verify", tmp_path / "m.py", "--collective", "all-gather").code == 2
    assert (document["valid"], document["kind"], document["ranks"]) == (True, "jax", 8)
    assert document["messages"] == made.transfers
    assert certree("import", tmp_path / "m.py", "--topology", "torus:2x4", "-o", tmp_path / "b.json").code == 0
    assert json_of("verify", tmp_path / "b.json")["valid"]
    refused = certree("export", tmp_path / "s.json", "--format", "jax", "--from", "1KiB", "-o", tmp_path / "n.py")
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert "has no smallest and no largest one" in refused.err


def test_a_switch_is_no_device() -> None:
    schedule = written_out(ct.synthesize("switch:4,reducing=switches", method="netreduce"))
    with pytest.raises(UnsupportedError, match="node 4 is a switch that reduces; only devices add"):
        lower_to_permutes(schedule)
