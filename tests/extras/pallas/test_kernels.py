"""Kernels of schedules: right ones are not accused, every planted fault is named, and modules are read back."""

from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

import certree.api as ct
from certree.extras.pallas.check.kernel_checker import verify_kernel
from certree.extras.pallas.make.kernel_plans import plan_of_schedule
from certree.extras.pallas.model.kernel_module import TILE_BYTES, VMEM_BYTES, read_module, written_module
from certree.extras.pallas.model.kernel_plan import KernelPlan
from certree.extras.pallas.model.kernel_plan_file import plan_of, written_plan
from certree.extras.xla.model.packed import packed
from certree.models.common.errors import InputError, UnsupportedError
from certree.models.common.files import parse_json
from tests.cli.running import certree, json_of
from tests.end_to_end.composition.forms import FORMS
from tests.extras.pallas.planted import planted
from tests.extras.pallas.small_kernels import pass_on
from tests.extras.runtimes.make.test_round_trips import METHODS
from tests.extras.xla.test_modules import REDUCING, ROOTED
from tests.synth.execution import make

#: kernels with planted faults, and how many they have
FAULTY = {
    ("mesh:2x3", "multitree", "all-reduce"): 12,
    ("ring:5", "ring", "all-reduce"): 12,
    ("torus:2x4", "multitree", "all-reduce"): 12,
    ("mesh:2x2", "packing", "all-reduce"): 11,
    ("mesh:2x3", METHODS["broadcast"], "broadcast"): 8,
    ("torus:2x4", METHODS["reduce-scatter"], "reduce-scatter"): 11,
}
NETWORKS = ("ring:5", "mesh:2x3", "dgx1", "fattree:2x2", "torus:3x3")
MORE = (("torus:2x4", "ring-2d"), ("torus:2x4", "swing"), ("torus:2x4", "bine"), ("torus:2x4", "packing"), ("ring:6", "ring"))
MORE += (("mesh:2x4", "multitree"), ("hypercube:3", "recursive-doubling"), ("torus:2x4", "multitree"), ("ring:8", "multitree"))
MORE += (("full:5", "multitree"),)


def plan(network: str, method: str, collective: str = "all-reduce") -> KernelPlan:
    return plan_of_schedule(make(method, network, collective, root=1 if collective in ROOTED else None))


@pytest.mark.parametrize("collective", METHODS)
@pytest.mark.parametrize("network", NETWORKS)
def test_right_kernels(network: str, collective: str) -> None:
    verdict = verify_kernel(plan(network, METHODS[collective], collective))
    assert verdict.valid
    assert verdict.any_calls


@pytest.mark.parametrize(("network", "method"), MORE)
def test_more_right_kernels(network: str, method: str) -> None:
    assert verify_kernel(plan(network, method)).valid


@pytest.mark.parametrize(("network", "method", "collective"), FAULTY)
def test_planted_faults(network: str, method: str, collective: str) -> None:
    found = list(planted(plan(network, method, collective), 7))
    assert len(found) == FAULTY[network, method, collective]
    for name, (changed, rule, place) in found:
        violations = verify_kernel(changed).verdict.violations
        words = [one.message for one in violations if one.rule == rule]
        assert words, (name, [one.message for one in violations])
        assert place == (-1, -1) or any(f"device {place[0]}, operation {place[1]}" in one for one in words), (name, place, words)


def test_there_are_fifty_of_each() -> None:
    assert sum(FAULTY.values()) >= 50
    assert len(NETWORKS) * len(METHODS) + len(MORE) >= 50


@pytest.mark.parametrize("form", [form for form in FORMS if form not in REDUCING])
def test_every_form(form: str, tmp_path: Path) -> None:
    FORMS[form].write(tmp_path)
    made = plan_of_schedule(ct.load(tmp_path / "s.json"))
    assert verify_kernel(made).valid
    text = written_plan(made).decode()
    assert plan_of(parse_json(text.encode(), "k.json"), text, "k.json") == made
    data = written_module(made)
    assert read_module(data, "k.py") == made
    assert written_module(read_module(data, "k.py")) == data


def test_the_template_is_the_module_of_a_ring_of_two() -> None:
    template = (files("certree.extras.pallas.device") / "kernel_template.py").read_bytes()
    assert written_module(plan("ring:2", "ring")) == template


PACKED = packed(np.arange(2), as_list=False)
TEXT = written_module(plan("ring:2", "ring")).decode()


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("held[second] = held[first]\n", "held[second] = held[0]\n", "line [0-9]+ is ' +held.second. = held.0.'; in a module of"),
        ("import jax\n", "import os\n", "the lines before the constants are not those of its schedule"),
        ('"all-reduce", 2', '"all-reduce", 3', r"OPERATIONS are \(2, 16, 6\) numbers; expected 3 devices"),
        ('"all-reduce", 2', '"sum", 2', "unknown collective"),
        ("[4, 0, 0, 0, 0, 1]", "[4, 0, 0, 1, 0, 1]", r"device 0, operation 3 \(line 33\) is .*; no operation has these numbers"),
        ("[4, 0, 0, 0, 0, 1]", "[11, 0, 0, 0, 0, 1]", "no operation has these numbers"),
        ("[4, 0, 0, 0, 0, 1]", "[4, 0, 0, 0, 0, 0]", "no operation has these numbers"),
        ("[7, 1, 1, 0, 0, 0]", "[7, 2, 1, 0, 0, 0]", r"device 0, operation 2 \(line 32\): input 2: input has 2 rows on device 0"),
        ("[1, 1, 2, 1, 8, 0]", "[1, 1, 2, 2, 8, 0]", "device 2; there are 0 to 1"),
        ("[1, 1, 2, 1, 8, 0]", "[1, 1, 2, 1, 10, 0]", "semaphore 12; a device has 12"),
        (" = 2, 1, 2, 2, 4, 1, 10", " = 2, 1, 3, 2, 4, 1, 10", "INPUT and OUTPUT are 3 and 2; expected 2 and 2"),
        (" = 2, 1, 2, 2, 4, 1, 10", " = 2, 0, 2, 2, 4, 1, 10", "REPEATS is 0; allowed: 1 to"),
        ("2, None, None, None", "2, 0, None, None", "ROOT is 0; all-reduce has none"),
        ("[7, 1, 1, 0, 0, 0]", "[7, 1, 1, 0, 0]", "lists of different lengths"),
        ("[7, 1, 1, 0, 0, 0]", "print()", "not literals of Python"),
        ("[4, 0, 0, 0, 0, 1]", "[4, 0, 0, 0, 0, 1048577]", "no operation has these numbers"),
        ("[2, 0, 0, 0, 1, 1],\n    ],\n]", "[0, 99999999999, 0, 0, 0, 0],\n    ],\n]", "no operation has these numbers"),
        ("2, None, None, None", f"2, None, {PACKED}, None", "MEMBERS is .*; expected lists of whole numbers, or None"),
        ("2, None, None, None", f"2, None, None, {PACKED}", "DEMAND is .*; expected lists of whole numbers, or None"),
        (" = 2, 1, 2, 2, 4, 1, 10", " = 2, 1, 2, 2, 4, 1, 255", "a kernel with 257 semaphores; allowed: up to 256"),
        (
            " = 2, 1, 2, 2, 4, 1, 10",
            " = 2, 1, 2, 2, 4093, 1, 10",
            "rows take 16,781,312 bytes of vector memory or more",
        ),
        ("# constants of the schedule\n", "", "it lacks the line '# constants"),
    ],
)
def test_other_texts_are_refused(old: str, new: str, words: str) -> None:
    assert old in TEXT
    with pytest.raises(InputError, match=words):
        read_module(TEXT.replace(old, new, 1).encode(), "k.py")


def test_what_a_module_does_not_do_is_said() -> None:
    with pytest.raises(UnsupportedError, match="device 0, operation 4: copy from input 0 to output 0 is in no module"):
        written_module(pass_on())


def test_on_the_command_line(tmp_path: Path) -> None:
    made = make("multitree", "mesh:2x3", "all-reduce")
    ct.save(made, tmp_path / "s.json")
    assert certree("export", tmp_path / "s.json", "--format", "pallas", "-o", tmp_path / "k.py").code == 0
    document = json_of("verify", tmp_path / "k.py")
    assert (document["valid"], document["kind"], document["ranks"], document["messages"]) == (True, "pallas", 6, made.transfers)
    assert certree("verify", tmp_path / "k.py", "--collective", "all-reduce").code == 0
    assert certree("verify", tmp_path / "k.py", "--collective", "all-gather").code == 2
    assert certree("import", tmp_path / "k.py", "--topology", "mesh:2x3", "-o", tmp_path / "b.json").code == 0
    assert json_of("verify", tmp_path / "b.json")["valid"]
    refused = certree("export", tmp_path / "s.json", "--format", "pallas", "--from", "1KiB", "-o", tmp_path / "n.py")
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    text = (tmp_path / "k.py").read_text()
    line = next(at for at, one in enumerate(text.splitlines(), 1) if one.startswith("        [10,"))
    (tmp_path / "wrong.py").write_text(text.replace("        [10,", "        [9,", 1))
    told = certree("verify", tmp_path / "wrong.py")
    assert told.code == 1
    assert "wrong-data: o[" in told.out
    cut = text.splitlines(keepends=True)
    (tmp_path / "late.py").write_text("".join([*cut[: line - 2], cut[line - 1], cut[line - 2], *cut[line:]]))
    assert f"(line {line - 1}) reads scratch" in certree("verify", tmp_path / "late.py").out


def test_what_does_not_fit_is_one_line(tmp_path: Path) -> None:
    ct.save(ct.synthesize("ring:4", method="ring", size="32MiB"), tmp_path / "s.json")
    refused = certree("export", tmp_path / "s.json", "--format", "pallas", "-o", tmp_path / "n.py")
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert "a kernel for 32 MiB takes 134,217,728 bytes of vector memory; allowed: up to 16,777,216; modules for JAX" in refused.err
    assert not (tmp_path / "n.py").exists()
    made = plan("ring:4", "ring")
    many = replace(made, dma=255)
    with pytest.raises(UnsupportedError, match="a kernel with 257 semaphores; allowed: up to 256"):
        written_module(many)
    long = replace(made, operations=(made.operations[0] * 1024, *made.operations[1:]))
    with pytest.raises(UnsupportedError, match="operations of a device; allowed: up to 16384"):
        written_module(long)


def test_the_limits_stand_in_every_module() -> None:
    text = written_module(plan("ring:2", "ring")).decode()
    assert f"VMEM_BYTES = {VMEM_BYTES >> 20} << 20\n" in text
    assert TILE_BYTES == 4 * 128 * 8
