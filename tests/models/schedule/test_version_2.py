"""Fields of version 2 of the schedule: what is allowed, what files say, and what schedules of version 1 keep."""

import json
import zipfile
from dataclasses import replace

import numpy as np
import pytest

from certree.models.common.errors import ScheduleFormatError, UnsupportedError
from certree.models.forms.lowering_chain import takes
from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import parse_collective
from certree.models.schedule.schedule import make_schedule
from certree.models.schedule.schedule_csv import load_schedule_csv
from certree.models.schedule.schedule_file import (
    load_schedule,
    save_schedule,
    schedule_document,
    schedule_from_document,
)
from certree.models.schedule.symmetric.symmetric_file import symmetric_document, symmetric_from_document
from certree.models.schedule.symmetric.symmetric_schedule import LEFT_OUT
from tests.models.examples import pair_all_reduce, turning
from tests.models.test_schemas import validator

PAIR = pair_all_reduce()
TWO = replace(PAIR, buffers=3, src_buffer=[0, 2], dst_buffer=[1, 0])
ROUTED = replace(PAIR, routes=((0,), (1,)), route=[1, 0], virtual_channel=[0, 3])


def test_digests_of_version_1_stay():
    """The digest of a schedule that files of earlier versions hold."""
    assert PAIR.digest == "328341efb1a95887c1bb88212a99591ef1e3149d736bcc52344657e32f13f8e2"
    assert replace(PAIR, buffers=1, src_buffer=[0, 0], virtual_channel=[]).digest == PAIR.digest
    digests = {
        made.digest for made in (PAIR, TWO, replace(TWO, src_buffer=[0, 1]), replace(PAIR, buffers=2), replace(PAIR, buffers=3))
    }
    assert len(digests) == 5
    assert replace(ROUTED, virtual_channel=None).digest != ROUTED.digest != replace(ROUTED, virtual_channel=[1, 3]).digest


def test_one_buffer_has_no_columns():
    made = replace(PAIR, src_buffer=np.zeros(2, np.int32), dst_buffer=np.zeros(2, np.int32))
    assert (made.src_buffer, made.dst_buffer, made.virtual_channel, made.version_2_fields) == (None, None, None, ())
    assert "buffers" not in schedule_document(made)
    assert schedule_document(made)["version"] == 1


def test_several_buffers_have_columns():
    made = replace(PAIR, buffers=2)
    assert [made.src_buffer.tolist(), made.dst_buffer.tolist()] == [[0, 0], [0, 0]]
    assert made.version_2_fields == ("buffers",)
    assert ROUTED.version_2_fields == ("virtual_channel",)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"buffers": 0}, "buffers is 0; allowed: 1 to 1024"),
        ({"buffers": 1025}, "buffers is 1025; allowed: 1 to 1024"),
        ({"buffers": True}, "buffers is True; allowed: whole numbers"),
        ({"src_buffer": [0, 1]}, "transfers.src_buffer row 1: 1; allowed: 0 to 0"),
        ({"buffers": 2, "dst_buffer": [2, 0]}, "transfers.dst_buffer row 0: 2; allowed: 0 to 1"),
        ({"buffers": 2, "dst_buffer": [0]}, "transfers.dst_buffer has 1 rows; transfers.chunk has 2"),
        ({"buffers": 2, "src_buffer": [0.5, 0]}, "src_buffer must be a column of whole numbers"),
        ({"virtual_channel": [1]}, "virtual_channel has 1 entries; routes has 0"),
        ({"routes": ((0,),), "virtual_channel": [256]}, "virtual_channel row 0: 256; allowed: 0 to 255"),
    ],
)
def test_wrong_fields(fields, reason):
    with pytest.raises(ScheduleFormatError) as caught:
        replace(PAIR, **fields)
    assert reason in str(caught.value)


@pytest.mark.parametrize("name", ["s.json", "s.json.gz", "s.npz"])
@pytest.mark.parametrize("made", [TWO, ROUTED, replace(TWO, routes=((1,),), virtual_channel=[9])])
def test_round_trip(tmp_path, made, name):
    save_schedule(made, tmp_path / name)
    again = load_schedule(tmp_path / name)
    assert (again.digest, schedule_document(again)) == (made.digest, schedule_document(made))
    assert schedule_document(made)["version"] == 2
    validator("schedule").validate(schedule_document(made))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"version": 1}, "unknown field 'buffers'"),
        ({"buffers": 1}, "unknown fields 'src_buffer', 'dst_buffer'"),
        ({"buffers": 0}, "buffers is 0; allowed: whole numbers from 1 to 1024"),
        ({"buffers": 2}, "transfers.src_buffer row 1: 2; allowed: 0 to 1"),
        ({"virtual_channel": [0]}, "virtual_channel has 1 entries; routes has 0"),
        ({"virtual_channel": 0}, "virtual_channel must be a list of whole numbers"),
        ({"transfers": {**schedule_document(TWO)["transfers"], "dst_buffer": [1]}}, "transfers.dst_buffer has 1 rows; expected 2"),
        ({"transfers": schedule_document(PAIR)["transfers"]}, "src_buffer, dst_buffer are missing"),
    ],
)
def test_wrong_documents(change, reason):
    with pytest.raises(ScheduleFormatError) as caught:
        schedule_from_document(json.loads(json.dumps({**schedule_document(TWO), **change})), "s.json")
    assert reason in str(caught.value)


def test_an_archive_lacks_a_column(tmp_path):
    save_schedule(TWO, tmp_path / "s.npz")
    with zipfile.ZipFile(tmp_path / "s.npz") as whole, zipfile.ZipFile(tmp_path / "part.npz", "w") as part:
        for name in whole.namelist():
            if name != "dst_buffer.npy":
                part.writestr(name, whole.read(name))
    with pytest.raises(ScheduleFormatError, match="dst_buffer is missing"):
        load_schedule(tmp_path / "part.npz")


def from_csv(tmp_path, text):
    (tmp_path / "s.csv").write_text(text)
    return load_schedule_csv(tmp_path / "s.csv", parse_topology("ring:2"), parse_collective("all-reduce"))


@pytest.mark.parametrize("path", [("", "", ""), (",path", ",", ",")])
def test_csv(tmp_path, path):
    head, first, second = path
    text = f"chunk,op,src,dst,step{head},src_buffer,dst_buffer\n0,reduce,1,0,0{first},0,1\n0,copy,0,1,1{second},2,0\n"
    assert from_csv(tmp_path, text).digest == TWO.digest
    zeros = text.replace("0,1\n", "0,0\n").replace("2,0\n", "0,0\n")
    assert from_csv(tmp_path, zeros).digest == PAIR.digest


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("chunk,op,src,dst,step,src_buffer\n", "line 1: expected the header"),
        ("chunk,op,src,dst,step,dst_buffer,src_buffer\n", "line 1: expected the header"),
        ("chunk,op,src,dst,step,src_buffer,dst_buffer,path\n", "line 1: expected the header"),
        ("chunk,op,src,dst,src_buffer,dst_buffer\n", "line 1: expected the header"),
        ("chunk,op,src,dst,step,src_buffer,dst_buffer\n0,copy,0,1,0\n", "line 2: 5 fields; expected 7"),
        ("chunk,op,src,dst,step,src_buffer,dst_buffer\n0,copy,0,1,0,0,1024\n", "line 2: dst_buffer '1024'; allowed: whole numbers"),
        ("chunk,op,src,dst,step,src_buffer,dst_buffer\n0,copy,0,1,0,-1,0\n", "line 2: src_buffer '-1'; allowed: whole numbers"),
    ],
)
def test_wrong_csv(tmp_path, text, reason):
    with pytest.raises(ScheduleFormatError) as caught:
        from_csv(tmp_path, text)
    assert reason in str(caught.value)


def test_canonical_order_has_the_buffers_last():
    columns = {name: np.array([getattr(TWO, name)[0]] * 3) for name in ("chunk", "op", "step", "src", "dst")}
    columns |= {"src_buffer": np.array([1, 0, 0]), "dst_buffer": np.array([0, 2, 1])}
    made = make_schedule(TWO.topology, TWO.collective, TWO.chunk_root, columns, buffers=3)
    assert list(zip(made.src_buffer.tolist(), made.dst_buffer.tolist(), strict=True)) == [(0, 1), (0, 2), (1, 0)]
    mixed = replace(made, src_buffer=made.src_buffer[::-1], dst_buffer=made.dst_buffer[::-1])
    assert mixed.digest == made.digest


def test_symmetric_schedules_refuse_what_makes_no_sense():
    whole = turning("ring:4")
    assert set(LEFT_OUT) == {"virtual_channel", "members", "demand", "waits"}
    for name, reason in LEFT_OUT.items():
        with pytest.raises(ScheduleFormatError, match=rf"field {name} \(version 2\) is given; .* none: {reason}"):
            symmetric_from_document(symmetric_document(whole) | {name: 1}, "a.json")


def test_the_refusal_names_the_field():
    assert takes("tables").lowered(PAIR) is PAIR
    with pytest.raises(UnsupportedError, match=r"^tables: not supported for schedules that use buffers \(version 2\)$"):
        takes("tables").lowered(TWO)
    with pytest.raises(UnsupportedError, match="that use virtual_channel"):
        takes("tables").require(ROUTED)


def test_a_schedule_keeps_its_own_columns():
    """Rows that are in canonical order already are copied as well: what has been proved of a schedule stays true."""
    columns = {name: getattr(PAIR, name).copy() for name in ("chunk", "op", "step", "src", "dst", "route")}
    made = make_schedule(PAIR.topology, PAIR.collective, PAIR.chunk_root, columns, rounds=PAIR.rounds)
    before = made.chunk.tolist()
    columns["chunk"][:] = 7
    assert made.chunk.tolist() == before
