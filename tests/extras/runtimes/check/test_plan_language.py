"""Programs in MSCCL++'s own language, where its package is installed: its check of signals and waits agrees with ours."""

import json

import pytest

from certree.extras.runtimes.check.plan_checker import verify_plan
from certree.extras.runtimes.model.plan_file import plan_of

pytest.importorskip("mscclpp.language.program", reason="mscclpp is not installed: its language's own check is not compared")


def exchange(*, forgotten: bool = False) -> str:
    """Two ranks that copy their inputs into each other's scratch and add; `forgotten`: rank 0 does not wait for what comes."""
    from mscclpp.language.channel import MemoryChannel
    from mscclpp.language.collectives import AllReduce
    from mscclpp.language.program import CollectiveProgram
    from mscclpp.language.rank import Buffer, Rank

    with CollectiveProgram("exchange", AllReduce(2, 1, True), 2) as program:
        channels = [MemoryChannel(1 - rank, rank) for rank in range(2)]
        scratch = [Buffer(rank, 2) for rank in range(2)]
        for channel in channels:
            channel.signal(0, relaxed=True)
            channel.wait(0, relaxed=True)
        for rank, channel in enumerate(channels):
            channel.put(scratch[1 - rank][0:2], Rank(rank).get_input_buffer()[0:2], tb=0)
            channel.signal(0)
        for rank, channel in enumerate(channels):
            if not (forgotten and rank == 0):
                channel.wait(0)
            Rank(rank).reduce(Rank(rank).get_input_buffer()[0:2], [scratch[rank][0:2]], tb=0)
        return str(program.to_json())


def test_both_accept() -> None:
    checked = verify_plan(plan_of(json.loads(exchange()), "x.json"))
    assert checked.valid, checked.verdict


def test_both_refuse(monkeypatch: pytest.MonkeyPatch) -> None:
    from mscclpp.language.program import CollectiveProgram

    with pytest.raises(RuntimeError, match="Signal/Wait mismatch"):
        exchange(forgotten=True)
    monkeypatch.setattr(CollectiveProgram, "validate_signal_wait_pairing", lambda _: None)
    assert "unmatched" in verify_plan(plan_of(json.loads(exchange(forgotten=True)), "x.json")).verdict.counts
