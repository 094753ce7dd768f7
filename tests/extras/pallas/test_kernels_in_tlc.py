"""TLC on small kernels: the verdicts of the checker, by a specification."""

from pathlib import Path

import pytest

from certree.extras.pallas.check.kernel_checker import CALLS, verify_kernel
from certree.extras.pallas.model.kernel_plan import BARRIER, INPUT, OUTPUT, KernelPlan, Kind, Operation, Place
from certree.extras.tla.check.tlc import Result, run_tlc
from certree.extras.tla.check.tlc_jar import find_java, tlc_jar
from certree.models.common.errors import ToolMissingError
from tests.extras.pallas.kernel_interleavings import RACES
from tests.extras.pallas.small_kernels import copy, exchange, pass_on, replaced, wide
from tests.extras.pallas.test_kernel_rules import circle, reused, swapped, written_twice

NAMES = {"kernel-deadlock": "NoDeadlock", "not-entered": "Entered", "left-running": "NotLeft"} | dict.fromkeys(RACES, "NoRace")
HERE = Path(__file__).parent


def without_barriers() -> KernelPlan:
    plan = exchange()
    for device in range(2):
        for _ in range(4):
            plan = replaced(plan, device, 0)
    return plan


def other_order() -> KernelPlan:
    """Device 0 waits until its DMA has read before it waits for the other one."""
    plan = exchange()
    return replaced(replaced(plan, 0, 8), 0, 6, plan.operations[0][8], plan.operations[0][6])


KERNELS = {
    "exchange": exchange(),
    "wide": wide(),
    "pass on": pass_on(3),
    "one barrier of two": pass_on(2, 1),
    "one barrier of three": pass_on(3, 1),
    "circle": circle(),
    "reused": reused(),
    "written twice": written_twice(),
    "too late": swapped(exchange(), 1, 6),
    "no barriers": without_barriers(),
    "other order of waits": other_order(),
    "copied first": replaced(exchange(), 0, 5, copy(Place(INPUT, 0), Place(OUTPUT, 0)), copy(Place(INPUT, 0), Place(OUTPUT, 0))),
}


def record(device: int, call: int, one: Operation | str) -> str:
    """A record of the program of a device."""
    if isinstance(one, str):
        kind, target, numbers, reads, writes, apart = one, device, (-1, -1, 0), "{}", "{}", False
    else:
        kind = "local" if one.kind in (Kind.COPY, Kind.ADD) else one.kind.name.lower()
        target = one.device if one.kind in (Kind.START, Kind.SIGNAL) else device
        numbers = one.semaphore, one.send, one.rows if one.kind is Kind.START else one.times
        reads, writes = rows(device, one.read, one.rows), rows(target, one.written, one.rows)
        apart = one.kind is Kind.SIGNAL and one.semaphore == BARRIER
    fields = zip(("sem", "send", "n"), numbers, strict=True)
    words = [f'kind |-> "{kind}"', f"call |-> {call}", f"device |-> {target}", *(f"{name} |-> {value}" for name, value in fields)]
    return f"[{', '.join([*words, f'reads |-> {reads}', f'writes |-> {writes}', f'apart |-> {str(apart).upper()}'])}]"


def rows(device: int, place: Place | None, count: int) -> str:
    found = [] if place is None else [f"<<{device}, {4096 * place.buffer + place.row + at}>>" for at in range(count)]
    return "{" + ", ".join(found) + "}"


def broken(plan: KernelPlan, folder: Path) -> str:
    """The invariant that TLC finds broken, or nothing."""
    programs = []
    for device, found in enumerate(plan.operations):
        steps = [record(device, call, one) for call in range(CALLS) for one in ("enter", *found, "leave")]
        programs.append(f"{device} :> <<{', '.join(steps)}>>")
    text = f"---- MODULE MCKernel ----\nEXTENDS KernelPlan, TLC\nMCProgram == {' @@ '.join(programs)}\n====\n"
    (folder / "MCKernel.tla").write_text(text)
    devices, semaphores = (", ".join(map(str, range(count))) for count in (plan.ranks, plan.semaphores))
    config = [f"CONSTANT Devices = {{{devices}}}", f"CONSTANT Semaphores = {{{semaphores}}}", "CONSTANT Program <- MCProgram"]
    config += ["SPECIFICATION Spec", "CHECK_DEADLOCK FALSE", "INVARIANTS NoDeadlock NoRace Entered NotLeft"]
    (folder / "MCKernel.cfg").write_text("\n".join(config) + "\n")
    found = run_tlc(folder / "MCKernel.tla", folder / "MCKernel.cfg", HERE, time_limit=120)
    assert found.result in (Result.SUCCESS, Result.SAFETY)
    return found.broken


@pytest.mark.parametrize("name", KERNELS)
def test_verdicts_of_tlc(name: str, tmp_path: Path) -> None:
    try:
        find_java()
        tlc_jar()
    except ToolMissingError:
        pytest.skip("Java or TLC is not there")
    verdict = verify_kernel(KERNELS[name]).verdict
    expected = {NAMES[rule] for rule in verdict.counts}
    found = broken(KERNELS[name], tmp_path)
    assert found in (expected or {""})


def test_there_are_both() -> None:
    found = [{NAMES[rule] for rule in verify_kernel(plan).verdict.counts} for plan in KERNELS.values()]
    assert sum(not one for one in found) >= 4
    assert set().union(*found) == {"NoDeadlock", "NoRace", "Entered", "NotLeft"}
