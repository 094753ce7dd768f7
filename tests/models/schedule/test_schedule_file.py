"""Schedules in files: every format out and in, the same bytes twice, and each way a file can be wrong."""

import io
import json
import struct
import zipfile
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certree.models.common.budget import MOST_COLUMNS, MOST_TEXT
from certree.models.common.errors import InputError, ScheduleFormatError
from certree.models.machine.machine import Router, load_machine
from certree.models.network.routing import DIRECT
from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import WITH_ONE_ROOT, Collective, CollectiveKind
from certree.models.schedule.made_for import MadeFor
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import NO_ROOT
from certree.models.schedule.schedule_file import (
    load_schedule,
    save_schedule,
    schedule_document,
    schedule_from_document,
)
from tests.models.examples import built, pair_all_reduce, ring_all_gather
from tests.models.network.test_topology_file import changed

OWN = replace(load_machine("multitree"), clock_hz=3 * 10**9, router=Router(flow_control="wormhole"))
FULL = built(routes=((0,), (0, 1, 0)), route=[1], delay=3, rounds=[2]).with_certificate({"format": "certree-certificate"})
MADE = replace(pair_all_reduce(), made_for=MadeFor(1 << 20, OWN))


@pytest.mark.parametrize("name", ["s.json", "s.json.gz", "s.npz"])
@pytest.mark.parametrize("made", [pair_all_reduce(), pair_all_reduce(period=2, repeats=5, delay=2), ring_all_gather(4), FULL, MADE])
def test_round_trip(tmp_path, made, name):
    save_schedule(made, tmp_path / name)
    again = load_schedule(tmp_path / name)
    assert schedule_document(again) == schedule_document(made)
    assert (again.digest, again.made_for) == (made.digest, made.made_for)
    save_schedule(again, tmp_path / f"again-{name}")
    assert (tmp_path / name).read_bytes() == (tmp_path / f"again-{name}").read_bytes()


@st.composite
def schedules(draw):
    """Well-formed (not necessarily valid) schedules of any shape."""
    topology = parse_topology(draw(st.sampled_from(["ring:3", "mesh:2x3", "torus:3x3,without-node=4,capacity=2"])))
    kind, ends = draw(st.sampled_from(list(CollectiveKind))), st.sampled_from(topology.endpoints.tolist())
    collective = Collective(kind, draw(ends) if kind in WITH_ONE_ROOT else None)
    centre = st.just(NO_ROOT if collective.root is None else collective.root)
    roots = ends if kind in ("all-gather", "reduce-scatter", "all-to-all", "gather") else centre
    chunk_root = draw(st.lists(roots, min_size=1, max_size=4))
    targets = ends if kind in ("all-to-all", "scatter") else centre
    chunk_target = np.array([draw(targets) for _ in chunk_root]) if collective.has_targets else None
    period = draw(st.none() | st.integers(1, 5))
    rounds = draw(st.lists(st.just(1) if period else st.integers(1, 9), min_size=1, max_size=5))
    routes = tuple(map(tuple, draw(st.lists(st.lists(st.integers(0, len(topology.src) - 1), min_size=1), max_size=2))))
    rows = draw(st.integers(0, 6))
    highs = {"chunk": len(chunk_root), "op": 2, "step": len(rounds), "src": len(topology.kind), "dst": len(topology.kind)}
    columns = {
        name: np.array(draw(st.lists(st.integers(0, high - 1), min_size=rows, max_size=rows)), np.int32)
        for name, high in highs.items()
    }
    route = np.array(draw(st.lists(st.integers(DIRECT, len(routes) - 1), min_size=rows, max_size=rows)), np.int32)
    return Schedule(
        topology, collective, np.array(chunk_root), np.array(rounds), **columns, route=route, routes=routes, period=period,
        chunk_target=chunk_target,
        repeats=draw(st.integers(1, 1000)) if period else 1, delay=draw(st.integers(1, 9)),
        provenance={"method": draw(st.text(max_size=5))},
    )  # fmt: skip


@given(schedules())
def test_any_schedule_survives_its_document(made):
    text = json.dumps(schedule_document(made))
    again = schedule_from_document(json.loads(text), "text")
    assert again.digest == made.digest
    assert json.dumps(schedule_document(again)) == text


def test_save_refuses_to_overwrite(tmp_path):
    (tmp_path / "s.json").write_text("mine")
    with pytest.raises(InputError, match="exists; pass --force"):
        save_schedule(pair_all_reduce(), tmp_path / "s.json")
    assert (tmp_path / "s.json").read_text() == "mine"


NOT_WHOLE = [1.0, True, "1", None, [1]]


@pytest.mark.parametrize("value", NOT_WHOLE)
@pytest.mark.parametrize(
    "path", [("transfers", name, 1) for name in ("chunk", "op", "step", "src", "dst", "route")] + [("rounds", 1)]
)
def test_entries_that_are_no_whole_numbers(path, value):
    document = changed(schedule_document(pair_all_reduce()), path, value)
    with pytest.raises(ScheduleFormatError, match=r"s[.]json: (transfers[.])?[a-z]+ row 1: .* is not a whole number"):
        schedule_from_document(document, "s.json")


@pytest.mark.parametrize("value", [*NOT_WHOLE[:3], [1], 0, -1, 1 << 31])
@pytest.mark.parametrize("name", ["delay", "period", "repeats"])
def test_counts_that_are_no_counts(name, value):
    with pytest.raises(ScheduleFormatError, match=f"s.json: {name} is .*; allowed: whole numbers from 1 to"):
        schedule_from_document(changed(schedule_document(pair_all_reduce(period=1)), [name], value), "s.json")


@pytest.mark.parametrize(
    ("path", "value", "reason"),
    [
        (["format"], "certree-topology", "format is 'certree-topology'; expected 'certree-schedule'"),
        (["version"], 3, "version 3 cannot be read; expected 1 or 2"),
        (["colour"], "red", "unknown field 'colour'; known: topology, "),
        (["topology"], [], 'topology: no "format" field'),
        (["topology", "version"], 3, "topology: version 3 cannot be read"),
        (["topology", "links", "dst", 0], 5, "dst is 5; allowed: 0 to 1"),
        (["collective"], "all-reduce", "collective is 'all-reduce'; expected a table of fields"),
        (["collective", "kind"], "sum", "unknown collective 'sum'; known: all-reduce"),
        (["collective", "kind"], None, "collective: kind is None; expected a string"),
        (["collective", "root"], 0, "collective: all-reduce has no single root; root 0 does not apply"),
        (["collective", "root"], 0.0, "collective: root is 0.0; allowed: whole numbers from 0 or null"),
        (["collective", "root"], True, "collective: root is True; allowed: whole numbers from 0 or null"),
        (["collective", "kind"], "broadcast", "collective: broadcast needs a root: the id of an endpoint"),
        (["collective", "kind"], "all-to-all", "chunks: target is missing; known: root, target"),
        (["chunks", "target"], [0], "chunks: unknown field 'target'; known: root"),
        (["collective", "kind"], "all-gather", "chunks.root row 0: None is not a whole number"),
        (["chunks"], [None], "chunks is [None]; expected a table of fields"),
        (["chunks", "root"], None, "chunks: root is None; expected a list"),
        (["chunks", "size"], 3, "chunks: unknown field 'size'; known: root"),
        (["chunks", "root"], [0], "chunks: root entries must be null in an all-reduce"),
        (["rounds"], 2, "rounds must be a list of whole numbers"),
        (["transfers"], [], "transfers is []; expected a table of fields"),
        (["transfers", "size"], [1, 1], "transfers: unknown field 'size'; known: chunk, op, step, src, dst, route"),
        (["transfers", "dst"], [0], "transfers.dst has 1 rows; expected 2"),
        (["transfers", "chunk"], [0], "transfers.op has 2 rows; expected 1"),
        (["transfers", "step"], {"0": 1}, "transfers.step must be a list of whole numbers"),
        (["transfers", "chunk", 1], 1, "transfers.chunk row 1: 1; allowed: 0 to 0"),
        (["transfers", "step", 1], 1 << 40, "transfers.step row 1: 1099511627776; allowed: 0 to"),
        (["routes"], {}, "routes is {}; expected a list"),
        (["routes"], [[0], 0], "routes must be a list of lists of link numbers"),
        (["routes"], [[0.0]], "routes must be a list of lists of link numbers"),
        (["certificate"], [], "certificate is []; expected a table of fields"),
        (["provenance"], None, "provenance is None; expected a table of fields"),
    ],
)
def test_bad_document(path, value, reason):
    with pytest.raises(InputError) as caught:
        schedule_from_document(changed(schedule_document(pair_all_reduce()), path, value), "s.json")
    assert reason in str(caught.value)
    assert str(caught.value).startswith("s.json: ")
    assert "\n" not in str(caught.value)


def test_missing_fields_and_columns():
    document = schedule_document(pair_all_reduce())
    for name in [name for name in document if name not in ("format", "version")]:
        with pytest.raises(ScheduleFormatError, match=f"json: {name} is missing; known: "):
            schedule_from_document({key: value for key, value in document.items() if key != name}, "s.json")
    for name in document["transfers"]:
        rest = {key: value for key, value in document["transfers"].items() if key != name}
        with pytest.raises(ScheduleFormatError, match=f"transfers: {name} is missing; known: chunk"):
            schedule_from_document(document | {"transfers": rest}, "s.json")


def test_a_column_given_twice(tmp_path):
    text = json.dumps(schedule_document(pair_all_reduce()))
    (tmp_path / "s.json").write_text(text.replace('"step": [0, 1]', '"step": [0, 1], "step": [0, 0]'))
    with pytest.raises(InputError, match="key 'step' is given twice"):
        load_schedule(tmp_path / "s.json")


@pytest.mark.parametrize("name", ["s.json", "s.json.gz", "s.npz"])
def test_truncated_files(tmp_path, name):
    """Every proper prefix is refused (every tenth is tried), and so is a file that is not there."""
    save_schedule(ring_all_gather(3), tmp_path / name)
    data = (tmp_path / name).read_bytes()
    for length in [*range(0, len(data) - 2, 10), len(data) - 2]:
        (tmp_path / name).write_bytes(data[:length])
        with pytest.raises(InputError):
            load_schedule(tmp_path / name)
    (tmp_path / name).unlink()
    with pytest.raises(InputError, match="No such file"):
        load_schedule(tmp_path / name)


def npz(tmp_path, drop=(), extra=(), **columns):
    """A copy of a good .npz with some members dropped, added or replaced."""
    save_schedule(pair_all_reduce(), tmp_path / "good.npz")
    with zipfile.ZipFile(tmp_path / "good.npz") as good, zipfile.ZipFile(tmp_path / "s.npz", "w") as bad:
        for name in good.namelist():
            column = columns.get(name.removesuffix(".npy"))
            data = io.BytesIO()
            if isinstance(column, bytes):
                data.write(column)
            elif column is not None:
                np.save(data, column)
            if name not in drop:
                bad.writestr(name, good.read(name) if column is None else data.getvalue())
        for name in extra:
            bad.writestr(name, b"{}")
    return tmp_path / "s.npz"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"drop": ["step.npy"]}, "expected ['head.json', 'chunk.npy'"),
        ({"drop": ["head.json"]}, "expected ['head.json', 'chunk.npy'"),
        ({"extra": ["more.npy"]}, "'more.npy'"),
        ({"step": np.array([0, 1])}, "transfers.step must be a column of int32, not int64 of shape (2,)"),
        ({"step": np.array([0.0, 1.0])}, "transfers.step must be a column of int32, not float64"),
        ({"step": np.array([True, False])}, "transfers.step must be a column of int32, not bool"),
        ({"step": np.array([[0, 1]], np.int32)}, "transfers.step must be a column of int32, not int32 of shape (1, 2)"),
        ({"step": np.array([0, 1, 1], np.int32)}, "transfers.step has 3 rows; expected 2"),
        ({"step": np.array([{}, {}], object)}, "is not a certree .npz"),
    ],
)
def test_bad_npz(tmp_path, change, reason):
    with pytest.raises(ScheduleFormatError) as caught:
        load_schedule(npz(tmp_path, **change))
    assert reason in str(caught.value)


@pytest.mark.parametrize(
    "header",
    [
        "{'descr': '<i4', 'fortran_order': False, 'shape': (1000000000000,)}",
        "{'descr': '<i4', 'fortran_order': False, 'shape': (True,)}",
        "{'descr': '<i4', 'fortran_order': False, 'shape': (4",
        "'" * 3,
        "-" * 5000 + "1",
    ],
)
def test_npz_with_a_forged_column(tmp_path, header):
    """Headers for which numpy raises something else than ValueError."""
    forged = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header) + 1) + header.encode() + b"\n" + bytes(8)
    with pytest.raises(ScheduleFormatError, match=r"is not a certree [.]npz"):
        load_schedule(npz(tmp_path, step=forged))


@pytest.mark.parametrize("compression", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_npz_with_damaged_bytes(tmp_path, compression):
    """Whatever a member is compressed by; and encrypted members."""
    with zipfile.ZipFile(npz(tmp_path)) as good, zipfile.ZipFile(tmp_path / "c.npz", "w", compression) as other:
        for name in good.namelist():
            other.writestr(name, good.read(name))
    data = (tmp_path / "c.npz").read_bytes()
    body = data.index(b"head.json") + len("head.json")
    refused = 0
    for place in range(body, body + 100):
        (tmp_path / "s.npz").write_bytes(data[:place] + bytes([data[place] ^ 0x55]) + data[place + 1 :])
        try:  # LZMA's dictionary size may be another
            assert load_schedule(tmp_path / "s.npz").digest == pair_all_reduce().digest
        except ScheduleFormatError:
            refused += 1
    assert refused > 90
    encrypted, directory = bytearray(data), data.index(b"PK\x01\x02")
    encrypted[6] |= 1
    encrypted[directory + 8] |= 1
    (tmp_path / "s.npz").write_bytes(encrypted)
    with pytest.raises(ScheduleFormatError, match="is encrypted"):
        load_schedule(tmp_path / "s.npz")


def test_npz_with_a_column_twice(tmp_path):
    with pytest.warns(UserWarning, match="Duplicate name"):
        file = npz(tmp_path, extra=["step.npy"])
    with pytest.raises(ScheduleFormatError, match=r"'step[.]npy', 'step[.]npy'"):
        load_schedule(file)


def test_a_zip_that_is_no_schedule(tmp_path):
    (tmp_path / "s.npz").write_bytes(b"PK nothing")
    with pytest.raises(ScheduleFormatError, match=r"is not a certree [.]npz: File is not a zip file"):
        load_schedule(tmp_path / "s.npz")


@pytest.mark.parametrize("name", ["s.json.gz", "s.npz"])
def test_a_file_that_unzips_to_too_much(tmp_path, monkeypatch, name):
    save_schedule(ring_all_gather(40), tmp_path / name)
    size = (tmp_path / name).stat().st_size
    monkeypatch.setenv("CERTREE_BUDGET", str(Fraction(size, MOST_TEXT if name.endswith(".gz") else MOST_COLUMNS)))
    with pytest.raises(InputError, match=f"unzips to more than {size:,} bytes, the limit of its kind; CERTREE_BUDGET=4"):
        load_schedule(tmp_path / name)


def test_pickled_arrays_are_not_read(tmp_path):
    """Reading one would run code of the file."""
    file = tmp_path / "s.npz"
    save_schedule(pair_all_reduce(), file)
    with zipfile.ZipFile(file) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    stored = io.BytesIO()
    np.save(stored, np.array([{"code": 1}], object), allow_pickle=True)
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in (members | {"src.npy": stored.getvalue()}).items():
            archive.writestr(name, data)
    with pytest.raises(
        ScheduleFormatError, match=r"is not a certree \.npz: Object arrays cannot be loaded when allow_pickle=False"
    ):
        load_schedule(file)
