"""Each rule for programs: a file with that fault breaks it, and no other rule."""

import pytest

from certree.extras.runtimes.check.checker import layout_of, verify_program
from certree.extras.runtimes.model.msccl import read_msccl
from tests.extras.runtimes.check.foreign import algo, step


def exchange(*, first=None, second=None, adds=None, more=(), scratch=1):
    """Two ranks that send each other their input and add what comes: `first`, `second` and `adds` change the steps of rank 0."""
    gpus = []
    for rank in range(2):
        blocks = [
            [step(0, "s", "i:0", "s:0")],
            [step(0, "r", "i:0", "s:0", awaited=1)],
            [step(0, "cpy", "i:0", "o:0"), step(1, "re", "s:0", "o:0", wait=(1, 0))],
        ]
        if rank == 0:
            for at, change in enumerate((first, second, adds)):
                blocks[at] = blocks[at] if change is None else change
        peers = [(1 - rank, -1), (-1, 1 - rank), (-1, -1)]
        gpus.append(
            (scratch, [(*ends, steps) for ends, steps in zip(peers, blocks, strict=True)] + (list(more) if rank == 0 else []))
        )
    return algo(gpus, chunks=1)


def right():
    return exchange()


FAULTS = {
    "limit": right().replace('nchannels="1"', 'nchannels="33"'),
    "connection": exchange(more=[(1, -1, [])]),
    "unmatched": exchange(first=[step(0, "s", "i:0", "s:0"), step(1, "s", "i:0", "s:0")]),
    "no-signal": exchange(second=[step(0, "r", "i:0", "s:0")]),
    "loose-wait": exchange(
        adds=[step(0, "nop", wait=(1, 0)), step(1, "cpy", "i:0", "o:0"), step(2, "re", "s:0", "o:0", wait=(1, 0))]
    ),
    "deadlock-in-program": exchange(
        first=[step(0, "s", "i:0", "s:0", wait=(2, 1))],
        second=[step(0, "r", "i:0", "s:0", wait=(0, 0), awaited=1)],
        adds=[step(0, "cpy", "i:0", "o:0"), step(1, "re", "s:0", "o:0", wait=(1, 0), awaited=1)],
    )
    .replace('type="s"', 'hasdep="1" type="s"', 1)
    .replace('deps="1" hasdep="0"', 'deps="1"', 1),
    "race": exchange(adds=[step(0, "cpy", "i:0", "o:0"), step(1, "re", "s:0", "o:0")]),
    "input-changed": exchange(more=[(-1, -1, [step(0, "re", "o:0", "i:0", wait=(2, 1))])]).replace(
        'cnt="1" depid="1" deps="0" hasdep="0"', 'cnt="1" depid="1" deps="0" hasdep="1"', 1
    ),
    "wrong-data": exchange(adds=[step(0, "cpy", "i:0", "o:0"), step(1, "cpy", "s:0", "o:0", wait=(1, 0))]),
    "outside": right()
    .replace('i_chunks="1"', 'i_chunks="2"', 1)
    .replace('srcbuf="i" srcoff="0" dstbuf="o"', 'srcbuf="i" srcoff="1" dstbuf="o"', 1),
}


def broken(text):
    return set(verify_program(read_msccl(text.encode(), "x.xml"), executor="rccl").verdict.counts)


def test_the_right_one_is_right():
    assert not broken(right())


@pytest.mark.parametrize("rule", FAULTS)
def test_rule(rule):
    others = {"outside": {"wrong-data"}, "input-changed": {"race"}, "race": {"wrong-data"}}
    assert {rule} <= broken(FAULTS[rule]) <= {rule} | others.get(rule, set())


def test_a_deadlock_names_the_circle():
    verdict = verify_program(read_msccl(FAULTS["deadlock-in-program"].encode(), "x.xml")).verdict
    assert (
        "step 0 waits for step 1 of thread block 2; rank 0, thread block 2, step 1 waits for step 0"
        in verdict.violations[0].message
    )


def test_three_messages_do_not_fit_into_a_fifo_of_two():
    """Rank 0 sends three times before it receives, and so does rank 1."""
    blocks = [step(at, "s", f"i:{at}", f"s:{at}") for at in range(3)] + [step(3 + at, "r", f"i:{at}", f"s:{at}") for at in range(3)]
    blocks += [step(6, "cpy", "i:0", "o:0", count=3), step(7, "re", "s:0", "o:0", count=3)]
    text = algo([(3, [(1, 1, blocks)]), (3, [(0, 0, blocks)])], chunks=3)
    assert broken(text) == {"deadlock-in-program"}
    two = text.replace('nchunksperloop="3"', 'nchunksperloop="2"')
    assert two != text


def test_the_root_of_a_broadcast_is_found():
    gpus = [
        (0, [(-1, 1, [step(0, "r", "i:0", "o:0")])]),
        (0, [(0, -1, [step(0, "s", "i:0", "o:0"), step(1, "cpy", "i:0", "o:0")])]),
    ]
    program = read_msccl(algo(gpus, "broadcast", chunks=1).encode(), "x.xml")
    assert layout_of(program).root == 1
    assert verify_program(program).valid
    assert not verify_program(program, root=0).valid
