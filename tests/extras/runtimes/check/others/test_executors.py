"""Limits of executors: a second verdict, which counts where the executor is named; the data decide otherwise."""

from pathlib import Path

import pytest

import certree.api as ct
from tests.cli.running import certree, json_of
from tests.extras.runtimes.check.foreign import ring

BARE = ring(2).replace('outofplace="0" ', "").replace('maxBytes="0"', "").replace('proto="Simple"', "proto='Simple'")
WIDE = ring(2).replace('nchannels="1"', 'nchannels="33"')


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "program.xml"
    path.write_text(BARE)
    return path


def test_data_decide_where_no_executor_is_named(file: Path) -> None:
    found = ct.verify(file)
    assert found.valid
    assert found.program.limits == {
        "msccl-0.7.4": (),
        "rccl": (
            "line 1: an attribute in single quotes; the executor reads double quotes",
            "line 1: outofplace is missing; the executor requires it",
            "line 1: maxBytes is missing; the executor requires it",
        ),
    }
    assert (
        certree("verify", file).out.splitlines()[-1].startswith("  beyond 3 limits of rccl, first: line 1: an attribute in single")
    )
    assert json_of("verify", file)["limits"] == {"msccl-0.7.4": 0, "rccl": 3}


def test_an_executor_that_is_named(file: Path) -> None:
    assert ct.verify(file, executor="msccl-0.7.4").valid
    assert ct.verify(file, executor="rccl").program.verdict.counts == {"limit": 3}
    assert certree("verify", file, "--executor", "rccl").code == 1
    assert not ct.verify_all(file, executor="rccl").checked[0].valid
    file.write_text(WIDE)
    assert ct.verify(file, executor="msccl-0.7.4").program.verdict.counts["limit"] == 1


def test_executors_of_other_things(file: Path, tmp_path: Path) -> None:
    ct.save(ct.synthesize("ring:4", method="ring"), tmp_path / "s.json")
    for path, executor, reason in (
        (file, "mscclpp-0.9", "executor mscclpp-0.9 does not execute such a program; those that do: msccl-0.7.4, rccl"),
        (tmp_path / "s.json", "rccl", "an executor is for programs; this is of the kind schedule"),
    ):
        with pytest.raises(ct.InputError, match=reason):
            ct.verify(path, executor=executor)
    assert ct.verify_all(tmp_path, executor="msccl-0.7.4").exit_code == 0


def test_steps_that_do_nothing_have_no_chunks(file: Path) -> None:
    """Programs that are deployed have a wait between two steps, with a count of 0."""
    wait = '<step s="1" type="nop" srcbuf="i" srcoff="-1" dstbuf="o" dstoff="-1" cnt="0" depid="-1" deps="-1" hasdep="0"/>'
    file.write_text(
        """<algo name="pair" proto="LL" nchannels="1" nchunksperloop="2" ngpus="2" coll="allgather" inplace="1" outofplace="0"
 minBytes="0" maxBytes="0">"""
        + "".join(
            f'''<gpu id="{rank}" i_chunks="1" o_chunks="2" s_chunks="0"><tb id="0" send="{1 - rank}" recv="{1 - rank}" chan="0">
 <step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="o" dstoff="{rank}" cnt="1" depid="-1" deps="-1" hasdep="0"/>{wait}
 <step s="2" type="r" srcbuf="i" srcoff="0" dstbuf="o" dstoff="{1 - rank}" cnt="1" depid="-1" deps="-1" hasdep="0"/></tb></gpu>'''
            for rank in (0, 1)
        )
        + "</algo>"
    )
    assert ct.verify(file, executor="rccl").valid
