"""Schedules in CSV files, as other programs write them, and each line that can be wrong."""

import csv
import gzip
import io

import pytest

from certree.models.common.errors import InputError, ScheduleFormatError
from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import parse_collective
from certree.models.schedule.schedule_csv import load_schedule_csv
from certree.verify.checker import verify_schedule
from tests.models.examples import pair_all_reduce, ring_all_gather

CSV = "chunk,op,src,dst,step\n0,reduce,1,0,0\n0,copy,0,1,1\n"


def from_csv(tmp_path, text, collective="all-reduce", topology="ring:2"):
    (tmp_path / "s.csv").write_text(text)
    return load_schedule_csv(tmp_path / "s.csv", parse_topology(topology), parse_collective(collective))


@pytest.mark.parametrize(
    "text",
    [
        CSV,
        "\ufeff" + CSV,
        CSV.replace("\n", "\r\n"),
        CSV.replace(",", " , "),
        CSV + "\n\n",
        CSV.replace("\n", "\n\n", 1),
        *(f"chunk,op,src,dst,step,path\n0,reduce,1,0,0,{up}\n0,copy,0,1,1,{down}\n" for up, down in (("", ""), ("1>0", "0>1"))),
    ],
)
def test_csv_as_other_programs_write_it(tmp_path, text):
    loaded = from_csv(tmp_path, text)
    assert loaded.digest == pair_all_reduce().digest
    assert loaded.provenance == {"method": "csv"}


def test_csv_of_a_rooted_collective(tmp_path):
    """Chunk c belongs to the endpoint of number c mod N; absent ids are not endpoints."""
    made = ring_all_gather(3)
    rows = zip(made.chunk.tolist(), made.src.tolist(), made.dst.tolist(), made.step.tolist(), strict=True)
    text = io.StringIO()
    csv.writer(text).writerows([("chunk", "op", "src", "dst", "step"), *((c, "copy", s, d, t) for c, s, d, t in rows)])
    assert from_csv(tmp_path, text.getvalue(), "all-gather", "ring:3").digest == made.digest
    gap = from_csv(tmp_path, "chunk,op,src,dst,step\n2,copy,3,2,0", "all-gather", "full:4,without-node=1")
    assert gap.chunk_root.tolist() == [0, 2, 3]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "line 1: expected the header chunk,op,src,dst,step"),
        ("chunk,op,src,dst\n", "line 1: expected the header"),
        ("chunk,op,src,dst,step,step\n", "line 1: expected the header"),
        ("chunk,op,src,dst,step,path\n0,copy,0,1,0\n", "line 2: 5 fields; expected 6"),
        ("chunk,op,src,dst,step\n", "no transfers"),
        (CSV + "0,copy,0\n", "line 4: 3 fields; expected 5"),
        (CSV + "0,copy,0,1,1,9\n", "line 4: 6 fields; expected 5"),
        (CSV + "0,move,0,1,1\n", "line 4: op 'move'; allowed: reduce, copy"),
        (CSV + "0,1,0,1,1\n", "line 4: op '1'; allowed: reduce, copy"),
        (CSV + "\n0,copy,0,1,1.0\n", "line 5: step '1.0'; allowed: whole numbers from 0 to"),
        (CSV + "-1,copy,0,1,1\n", "line 4: chunk '-1'; allowed: whole numbers from 0 to"),
        (CSV + "0,copy,0,2,1\n", "line 4: dst '2'; allowed: whole numbers from 0 to 1"),
        (CSV + "0,copy,,1,1\n", "line 4: src ''; allowed"),
        (CSV + "99999999,copy,0,1,1\n", "line 4: chunk '99999999'; allowed: whole numbers from 0 to 16777215"),
        (CSV + "9999999999999,copy,0,1,1\n", "line 4: chunk '9999999999999'; allowed"),
    ],
)
def test_bad_csv(tmp_path, text, reason):
    with pytest.raises(ScheduleFormatError) as caught:
        from_csv(tmp_path, text)
    assert reason in str(caught.value)


PATHS = "chunk,op,src,dst,step,path\n0,reduce,1,0,0,1>2>0\n0,copy,0,1,1, 0 > 2 > 1\n"


def test_csv_with_paths(tmp_path):
    loaded = from_csv(tmp_path, PATHS, topology="switch:2")
    hops = [[(loaded.topology.src[link], loaded.topology.dst[link]) for link in loaded.routes[route]] for route in loaded.route]
    assert hops == [[(1, 2), (2, 0)], [(0, 2), (2, 1)]]
    assert verify_schedule(loaded).valid


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("0>2>9", "path '0>2>9' does not lead from 0 to 1"),
        ("1>2>0", "does not lead from 0 to 1"),
        ("0", "does not lead from 0 to 1"),
        ("0-2-1", "allowed: nodes joined by >, such as 0>4>1"),
        ("0>>1", "allowed: nodes joined by >"),
        ("0>0>1", "the network has no link 0>0"),
        ("0>9>1", "the network has no link 0>9"),
    ],
)
def test_bad_paths_in_csv(tmp_path, path, reason):
    with pytest.raises(ScheduleFormatError) as caught:
        from_csv(tmp_path, f"chunk,op,src,dst,step,path\n0,copy,0,1,1,{path}\n", topology="switch:2")
    assert reason in str(caught.value)
    assert "line 2" in str(caught.value)


def test_csv_that_is_not_text(tmp_path):
    (tmp_path / "s.csv").write_bytes(gzip.compress(CSV.encode()))
    with pytest.raises(InputError, match="is not CSV"):
        load_schedule_csv(tmp_path / "s.csv", parse_topology("ring:2"), parse_collective("all-reduce"))
