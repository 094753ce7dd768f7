"""Heads in traces of routers: their ports lead where the message goes, their trees are those of the schedule."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

import certree.api as ct
from certree.extras.flits.model.flit_format import FlitFormat, FlitType
from certree.extras.flits.run.traced_heads import TracedHead, traced_heads
from certree.models.common.errors import InputError
from certree.models.machine.machine import load_machine
from certree.models.traces.flits import TracedFlits, load_flit_trace


def traced(network: str, folder: Path, *, flow: str = "message") -> tuple[ct.Schedule, TracedFlits, list[TracedHead], FlitFormat]:
    """A schedule of multitree, its trace, its heads, and their format."""
    schedule = ct.synthesize(network, size="1KiB", method="multitree")
    ct.simulate(schedule, engine="flit", flow=flow, trace_flits=folder / "trace", allow_late=True)
    found, layout = load_flit_trace(folder / "trace"), ct.flit_layout(schedule).format
    return schedule, found, list(traced_heads(found, layout)), layout


@pytest.mark.parametrize("network", ["mesh:2x2", "ring:4", "switch:3"])
def test_heads_lead_to_their_destinations(network: str, tmp_path: Path) -> None:
    schedule, trace, heads, layout = traced(network, tmp_path)
    ports: dict[int, list[tuple[int, int]]] = {}
    for channel in trace.channels:
        ports.setdefault(channel[0], []).append(channel)
    sent = Counter[tuple[int, int, int]]()
    for packet, (source, target, _) in enumerate(trace.packets):
        own = [head for head in heads if head.packet == packet]
        assert [head.source for head in own] == [-1, *(head.target for head in own[:-1])]
        assert (own[0].target, own[-1].source, own[-1].target) == (source, target, -1)
        for head, following in pairwise(own):
            assert ports[head.target][head.fields["next"]] == (following.source, following.target)
        assert ports[own[-2].source][own[-1].fields["eject"]] == (own[-2].source, target)  # by which it was sent to the destination
        assert {layout.decode(head.word)[0] for head in own} == {FlitType.MESSAGE_HEAD}
        assert [layout.turned(head.word) & ~(3 << layout.bits - layout.vc) for head in own[:-2]] == [
            head.word & ~(3 << layout.bits - layout.vc) for head in own[1:-1]
        ]
        sent[source, target, own[0].fields["tree"]] += 1
    rows = zip(schedule.src.tolist(), schedule.dst.tolist(), schedule.chunk.tolist(), strict=True)
    assert sent == Counter(rows)


def test_heads_of_packets(tmp_path: Path) -> None:
    _, trace, heads, layout = traced("mesh:2x2", tmp_path, flow="packet")
    assert {tuple(head.fields) for head in heads} == {("vc", "type", "dest", "src")}
    for head in heads:
        assert [head.fields["src"], head.fields["dest"]] == list(trace.packets[head.packet][:2])
        assert layout.decode(head.word)[0] in (FlitType.HEAD, FlitType.HEAD_TAIL)


def test_traces_of_other_things_are_refused(tmp_path: Path) -> None:
    _, trace, _, layout = traced("mesh:2x2", tmp_path)
    with pytest.raises(InputError, match="the trace states no chunks"):
        list(traced_heads(replace(trace, chunks=None), layout))
    small = {"ports": ("ports", 3), "node 3": ("node", 1), "chunk 3": ("tree", 1), "virtual channel 3": ("vc", 1)}
    for words, (name, bits) in small.items():
        with pytest.raises(InputError, match=words):
            list(traced_heads(trace, replace(layout, **{name: bits})))
    schedule = ct.synthesize("switch:3", size="1KiB", method="multitree")
    ct.simulate(schedule, engine="flit", trace_flits=tmp_path / "far", allow_late=True)
    with pytest.raises(InputError, match="a route of 2 hops; allowed: 1 to 1"):
        list(traced_heads(load_flit_trace(tmp_path / "far"), FlitFormat(2, 3, 8, 1, 4, 128)))


def test_chunks_of_a_trace_are_checked(tmp_path: Path) -> None:
    traced("mesh:2x2", tmp_path)
    text = (tmp_path / "trace").read_text()
    (tmp_path / "wrong").write_text(text.replace('"chunks": [', '"chunks": [0, '))
    with pytest.raises(InputError, match="chunks has 25 entries for 24 packets"):
        load_flit_trace(tmp_path / "wrong")


def test_sizes(tmp_path: Path) -> None:
    """Fig. 5 has a row for each tree and phase, more where children are told in different steps."""
    layout = ct.flit_layout("mesh:2x2")
    assert (layout.rows, layout.paper_rows, layout.paper_table_bytes) == (5, 8, 200)
    assert layout.head_bits() == 2 + 3 + 4 + 4 + 2
    assert layout.head_bits(FlitType.HEAD) == 2 + 3 + 2 + 2
    assert ct.flit_layout("ring:64").paper_table_bytes == 3200  # Section V-A
    with pytest.raises(InputError, match="3 one-hot fields of 64 ports"):
        ct.flit_layout("switch:64")
    with pytest.raises(InputError, match="size and machine are those of the tables"):
        ct.flit_layout(ct.export(ct.synthesize("ring:4", size="1KiB"), "readmemh", tmp_path / "t"), size="64B")
    assert load_machine("multitree").flit_bytes * 8 == layout.format.data
