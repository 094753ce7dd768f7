"""Each rule for kernels: a small kernel with that fault breaks it, and the message names the operation."""

from dataclasses import replace

import pytest

from certree.extras.pallas.check.kernel_checker import verify_kernel
from certree.extras.pallas.model.kernel_plan import INPUT, OUTPUT, SCRATCH, KernelPlan, Kind, Operation, Place
from certree.extras.pallas.model.kernel_plan_file import plan_of, written_plan
from certree.extras.runtimes.model.layout import Layout
from certree.extras.runtimes.reports import program_report, program_words
from certree.models.common.errors import InputError, UndecidedError
from certree.models.common.files import parse_json
from certree.models.schedule.collective import CollectiveKind
from tests.cli.running import certree, json_of
from tests.extras.pallas.small_kernels import RECEIVE, SEND, copy, exchange, pass_on, replaced, signal, wait

# the operations of `exchange`: 0 to 3 barriers, 4 DMA, 5 copy, 6 wait for the arrival, 7 addition, 8 wait until it is sent


def swapped(plan: KernelPlan, device: int, number: int) -> KernelPlan:
    first, second = plan.operations[device][number : number + 2]
    return replaced(replaced(plan, device, number + 1, first), device, number, second)


def circle() -> KernelPlan:
    """Each waits for the other one's DMA before it starts its own."""
    plan = exchange()
    for device in range(2):
        plan = swapped(swapped(plan, device, 5), device, 4)
    return plan


def reused() -> KernelPlan:
    """Device 0 changes its output, from which a DMA may still read."""
    plan = exchange()
    start = plan.operations[0][4]._replace(read=Place(OUTPUT, 0))
    return replaced(replaced(plan, 0, 5, start), 0, 4, copy(Place(INPUT, 0), Place(OUTPUT, 0)))


def written_twice() -> KernelPlan:
    """Device 0 writes the row into which a DMA comes."""
    return replaced(exchange(), 0, 5, copy(Place(INPUT, 0), Place(OUTPUT, 0)), copy(Place(INPUT, 0), Place(SCRATCH, 0)))


ARRIVAL = {"semaphore-count", "unawaited-arrival", "left-running"}
#: the kernel, the rules that it breaks, and words of the first message of the rule whose name the fault has
FAULTS = {
    "semaphore-count": (
        replaced(exchange(), 0, 0, signal(1, 0, 2)),
        {"semaphore-count"},
        "barrier of device 1 counts up 2 (by device 0, operation 0) and is waited for 1 times"
        " (by device 1, operation 1): 1 is left at the end",
    ),
    "unawaited-arrival": (
        replaced(exchange(), 1, 6),
        ARRIVAL,
        "device 1, operation 6 reads scratch 0 of device 1;"
        " the DMA of device 0, operation 4, which writes it, may not have arrived",
    ),
    "kernel-deadlock": (
        circle(),
        {"kernel-deadlock"},
        "device 0, operation 4 waits for ever: dma 1 has 0 of 1; what would count it up is not reached: device 1, operation 5",
    ),
    "early-reuse": (
        reused(),
        {"early-reuse"},
        "device 0, operation 7 may overwrite output 0 of device 0 before the DMA of device 0, operation 5 has read it",
    ),
    "kernel-race": (
        written_twice(),
        {"kernel-race"},
        "the DMA of device 1, operation 4 and device 0, operation 6 both write scratch 0 of device 0, in no fixed order",
    ),
    "not-entered": (
        pass_on(3, 1),  # of one barrier: seen in a second call alone
        {"not-entered"},
        "device 1, operation 4 starts a DMA to device 2, which may not have entered",
    ),
    "left-running": (
        replaced(exchange(), 0, 8),
        {"left-running", "semaphore-count"},
        "device 0, operation 4: its DMA may still read input 0 when device 0 leaves",
    ),
    "calls-meet": (
        replace(pass_on(2, 1), repeats=3),
        {"calls-meet"},
        "calls meet at a barrier: two calls in a row were checked, the message takes 3; device 0, operation 0 of a call may signal"
        " the barrier of device 1 before its wait of the call before is over",
    ),
    "wrong-data": (
        replaced(exchange(), 0, 7, copy(Place(SCRATCH, 0), Place(OUTPUT, 0))),
        {"wrong-data"},
        "o[0] of rank 0 lacks chunk 0 of rank 0",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_fault(name: str) -> None:
    plan, rules, words = FAULTS[name]
    verdict = verify_kernel(plan).verdict
    assert verdict.counts.keys() == rules
    assert words in next(one.message for one in verdict.violations if one.rule == name)


def test_signals_to_a_device_that_is_not_there() -> None:
    """Signals of the second barrier need the first one, and the kernel must wait for them."""
    plan = exchange()
    for device in range(2):
        plan = swapped(plan, device, 1)
    verdict = verify_kernel(plan).verdict
    assert verdict.counts.keys() == {"not-entered"}
    assert "device 0, operation 1 signals regular 0 of device 1, which may not have entered" in verdict.violations[0].message


def test_calls_that_meet_at_a_barrier() -> None:
    """Two devices with one barrier each may take a signal of the next call for one of this call, and nothing comes of it."""
    found = verify_kernel(pass_on(2, 1))
    assert (found.valid, found.any_calls) == (True, False)
    assert "in every interleaving of two calls in a row" in program_words(program_report(found, "pallas-plan"))
    assert verify_kernel(replace(pass_on(2, 1), repeats=2)).valid
    assert all(verify_kernel(plan).any_calls for plan in (exchange(), pass_on(2), pass_on(3)))
    assert not verify_kernel(pass_on(3, 1)).any_calls  # it is not valid


def test_a_wrong_semaphore_is_told() -> None:
    plan = exchange()
    verdict = verify_kernel(replaced(plan, 0, 6, wait(SEND))).verdict
    assert [one.message for one in verdict.violations if one.rule == "semaphore-count"] == [
        "dma 0 of device 0 counts up 1 (by device 0, operation 4) and is waited for 2 times (by device 0, operation 6 and device 0,"
        " operation 8): 1 never comes",
        "dma 1 of device 0 counts up 1 (by device 1, operation 4) and is waited for 0 times (by nobody): 1 is left at the end",
    ]


def test_one_semaphore_of_two_dmas() -> None:
    """A wait for one of two that may come is released by either; only a wait for both says that one has come."""
    start = Operation(Kind.START, Place(INPUT, 0), Place(OUTPUT, 0), device=0, semaphore=RECEIVE)
    plan = replaced(exchange(), 0, 5, start, wait(RECEIVE))
    assert verify_kernel(plan).valid  # it waits twice before it adds
    verdict = verify_kernel(swapped(plan, 0, 7)).verdict
    assert verdict.counts.keys() == {"unawaited-arrival"}
    assert [one.message for one in verdict.violations] == [
        f"device 0, operation 7 reads {place} of device 0; the DMA of {by}, which writes it, may not have arrived"
        for place, by in (("output 0", "device 0, operation 5"), ("scratch 0", "device 1, operation 4"))
    ]


def test_lines_of_a_file(tmp_path) -> None:
    path = tmp_path / "k.json"
    path.write_bytes(written_plan(replaced(exchange(), 0, 7, copy(Place(SCRATCH, 0), Place(OUTPUT, 0)), signal(1, 0))))
    document = json_of("verify", path, code=1)
    line = next(at for at, text in enumerate(path.read_text().splitlines(), 1) if '"device": 1, "semaphore": "barrier"' in text)
    assert (document["valid"], document["kind"]) == (False, "pallas-plan")
    assert f"device 0, operation 0 (line {line})" in document["violations"][0]["message"]
    path.write_bytes(written_plan(exchange()))
    shown = certree("verify", path)
    assert shown.code == 0
    assert "valid: all-reduce of 2 ranks" in shown.out
    assert "18 operations" in shown.out
    assert "in every interleaving of any number of calls in a row" in shown.out


TEXT = written_plan(exchange()).decode()


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            '"op": "copy", "from": "input 0"',
            '"op": "copy", "from": "input 1"',
            r"operation 5 \(line 22\): input 1: input has 1 rows on device 0",
        ),
        ('"to": "output 0"', '"to": "input 0"', r"operation 5 \(line 22\): it writes input 0; the input is read only"),
        ('"op": "wait"', '"op": "await"', r"device 0, operation 1 \(line 18\): unknown op 'await'"),
        ('"semaphore": "barrier"', '"semaphore": "dma 2"', r"semaphore is 'dma 2'; there are 2 semaphores of that kind"),
        ('"semaphore": "barrier"', '"semaphore": "dma 1"', r"it signals dma 1; only DMAs do"),
        ('"receive": "dma 1"', '"receive": "barrier"', r"its semaphore is barrier; a DMA counts up one of DMAs"),
        ('"send": "dma 0", ', "", r"a remote DMA has a semaphore for sending and one for receiving"),
        ('"device": 1', '"device": 2', r"device 2; there are 0 to 1"),
        ('"count": 1', '"count": 0', r"count is 0; allowed: whole numbers from 1"),
        ('"scratch 0"', '"scratch"', r"to is 'scratch'; expected input, output, scratch and a row"),
        ('"op": "copy"', '"op": "copy", "by": 1', r"\(line 22\): unknown field 'by'"),
        ('"ranks": 2', '"ranks": 3', r"devices has 2 entries; expected 3 lists"),
        ('"demand": null', '"demand": [[0, 1], [1, 0]]', r"an alltoallv has a demand, and nothing else has one"),
        ('"root": null', '"root": 0', r"root is 0; all-reduce has none"),
        ('"collective": "all-reduce"', '"collective": "broadcast"', r"root is missing; broadcast has one"),
        ('"version": 1', '"version": 2', r"version 2 cannot be read"),
    ],
)
def test_other_texts_are_refused(old: str, new: str, words: str) -> None:
    assert old in TEXT
    text = TEXT.replace(old, new, 1)
    with pytest.raises(InputError, match=words):
        plan_of(parse_json(text.encode(), "k.json"), text, "k.json")


def test_rows_that_a_device_does_not_use() -> None:
    """Only the root of a broadcast has an input; of a reduce only the root has an output, and all others give zeros."""
    plan = pass_on()
    with pytest.raises(InputError, match="device 1, operation 0: input 0: input has 0 rows on device 1"):
        replaced(plan, 1, 0, copy(Place(INPUT, 0), Place(OUTPUT, 0))).require_fits()
    reduce = replace(exchange(), layout=Layout(CollectiveKind.REDUCE, 2, 1, 0))
    with pytest.raises(InputError, match="device 1, operation 5: output 0: output has 0 rows on device 1"):
        reduce.require_fits()


def test_counts_fit_in_32_bits() -> None:
    many = [signal(1, 1, 1 << 20)] * 2047
    plan = replaced(exchange(), 0, 0, *many, signal(1, 1, (1 << 20) - 2))
    plan.require_fits()  # with that of operation 2 it is the most that there may be
    words = "regular 0 of device 1 is counted up 2,147,483,648 by then; allowed: up to 2,147,483,647 in a call"
    with pytest.raises(InputError, match=words):
        replaced(plan, 0, 0, signal(1, 1, (1 << 20) + 1)).require_fits()


def test_a_long_text_without_operations_is_read_in_one_pass() -> None:
    """Each of the words may be that of an operation which begins with the first brace; the next brace comes after all of them."""
    text = TEXT.replace('"devices": [\n[', '"devices": [\n[' + '"op", ' * 50_000, 1)
    with pytest.raises(InputError, match="device 0, operation 0 is 'op'; expected a table of fields"):
        plan_of(parse_json(text.encode(), "k.json"), text, "k.json")


def test_the_collective_is_asked_for(tmp_path) -> None:
    path = tmp_path / "k.json"
    path.write_bytes(written_plan(exchange()))
    assert certree("verify", path, "--collective", "all-reduce").code == 0
    refused = certree("verify", path, "--collective", "all-gather")
    assert (refused.code, refused.err.splitlines()[-1]) == (2, f"error: {path}: the collective is all-reduce, not all-gather")


def test_more_rows_than_the_budget_has_steps_for() -> None:
    """The checker says so at once: rows of the input and output count that no operation moves."""
    head = KernelPlan(Layout(CollectiveKind.BROADCAST, 8, 1 << 20, 0), 1, "", 0, 0, 0, ((),) * 8)
    move = Operation(Kind.COPY, Place(INPUT, 0), Place(OUTPUT, 0), rows=1 << 19)
    moves = KernelPlan(Layout(CollectiveKind.BROADCAST, 2, 1 << 19, 0), 1, "", 0, 0, 0, ((move,) * 16, ()))
    for plan in (head, moves):
        plan.require_fits()
        with pytest.raises(UndecidedError, match=r"a kernel with .* rows of input and output that moves"):
            verify_kernel(plan)
