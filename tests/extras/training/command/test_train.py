"""`certree train`."""

import json
import re
from fractions import Fraction
from itertools import pairwise

import pytest

from certree import api as ct
from certree.extras.training.model.workload import Communication, Layer, Loop, Part, Workload
from certree.extras.training.model.workload_file import load_workload, read_workload, workload_document
from certree.models.common.errors import InputError
from certree.models.schedule.collective import CollectiveKind
from tests.cli.running import assert_bad_input, certree, json_of

SMALL = ("train", "astra-dlrm", "ring:4", "--method", "ring", "--method", "all-to-all=ring-all-to-all")


def test_report():
    document = json_of(*SMALL)
    assert document["methods"] == {"all-reduce": "ring", "all-to-all": "ring-all-to-all"}
    total, compute, exposed = (Fraction(document[f"{name}_seconds"]) for name in ("iteration", "compute", "exposed"))
    assert total == compute + exposed
    assert compute == Fraction(51678 - 300, 10**9)  # the embedding's input gradient is not computed
    assert exposed == sum(Fraction(layer["waited_seconds"]) for layer in document["layers"])
    assert document["groups"][0]["collectives"] == 9
    words = certree(*SMALL).out
    assert words.startswith("astra-dlrm on ring:4: ")
    assert "dlrm loop, all-reduce by ring, all-to-all by ring-all-to-all; in closed form, machine multitree, fifo" in words


def test_collectives_take_as_long_as_closed_form_and_simulation():
    workload = load_workload("astra-resnet50")
    sizes = [layer.weight_gradient.communication.bytes for layer in workload.layers]
    cycles = {size: ct.synthesize("ring:4", method="ring", size=size) for size in set(sizes)}
    times = {size: ct.simulate(made).cycles for size, made in cycles.items()}
    for timing in ("closed-form", "slotted"):
        run = ct.train("astra-resnet50", "ring:4", method="ring", timing=timing, iterations=1)
        busy = run.training.busy("all")
        assert busy * 10**9 == sum(times[size] for size in sizes)
    paced = ct.train("astra-resnet50", "ring:4", method="ring", timing="paced", flow="packet", iterations=1)
    assert paced.training.busy("all") != busy


def test_endpoints_run_the_collectives_of_a_pass_together():
    command = ("train", "astra-resnet50", "ace-torus:2x2x2", "--timing", "endpoints", "--iterations", "1")
    ace, baseline = json_of(*command), json_of(*command, "--system", "baseline")
    assert (ace["system"], ace["machine"], ace["methods"]) == ("ace", "ace", {"all-reduce": "hierarchical"})
    assert Fraction(baseline["compute_seconds"]) == Fraction(ace["compute_seconds"]) / Fraction("0.95")
    # all of them at once take as long as the endpoints say of the same payloads
    run = ct.train("astra-resnet50", "ace-torus:2x2x2", timing="endpoints", iterations=1)
    asked = [(one.asked - run.training.collectives[0].asked, one.communication.bytes) for one in run.training.collectives]
    payloads = [f"{size}@{-(-begin * 10**9 // 1)}" for begin, size in asked]
    found = ct.endpoints("ace-torus:2x2x2", payloads=payloads, systems=["ace"])
    ends = [run.training.collectives[0].asked + Fraction(end, 10**9) for end in found.results[0].ends]
    assert [one.ended for one in run.training.collectives] == ends


def test_latencies_that_links_state_are_scaled():
    """Half and twice the latency: what a collective loses and gains is nearly the same, in cycles of messages and of a machine."""
    endpoints = {"timing": "endpoints", "program": "messages"}
    for network, more in (("ace-torus:2x2x2", endpoints), ("hier-torus:2x2x2", {"method": "ring"})):
        run = ct.train(
            "astra-resnet50", network, iterations=1, overlap=False, what_if=["latency=1/2", "latency=2", "bandwidth=2"], **more
        )
        seconds = {found.change: found.seconds for found in run.alternatives}
        assert seconds["latency=1/2"] < run.seconds < seconds["latency=2"]
        gained, lost = run.seconds - seconds["latency=1/2"], seconds["latency=2"] - run.seconds
        assert Fraction(19, 10) < lost / gained < Fraction(21, 10)
        # links twice as fast leave latencies as they are: less than half of the time is saved
        assert seconds["bandwidth=2"] > run.compute_seconds + (run.seconds - run.compute_seconds) / 2


def test_chunks_under_way_hide_latencies_of_links():
    """In tables of endpoints as many chunks are under way as there is room for: half and twice the latency change little."""
    settings = {"timing": "endpoints", "program": "tables", "without_routers": True, "iterations": 1, "overlap": False}
    run = ct.train("astra-resnet50", "ace-torus:2x2x2", what_if=["latency=1/2", "latency=2"], **settings)
    seconds = {found.change: found.seconds for found in run.alternatives}
    assert seconds["latency=1/2"] < run.seconds < seconds["latency=2"]
    assert (seconds["latency=2"] - seconds["latency=1/2"]) * 100 < run.seconds - run.compute_seconds


def test_switches_that_add():
    document = json_of("train", "astra-resnet50", "switch:4,reducing=switches", "--timing", "aggregate", "--iterations", "1")
    assert document["methods"] == {"all-reduce": "netreduce"}
    assert Fraction(document["groups"][0]["utilization"]) > Fraction(1, 2)


def test_what_if_is_sorted_and_equals_a_run_of_its_own():
    changes = ["method=ring", "bandwidth=2", "communication=free", "compute=1/2", "overlap=none", "order=lifo", "timing=aggregate"]
    options = [word for change in changes for word in ("--what-if", change)]
    document = json_of("train", "astra-resnet50", "ring:4", "--method", "multitree", *options)
    found = {entry["change"]: entry for entry in document["what_if"]}
    times = [entry["iteration_seconds"] for entry in document["what_if"]]
    known = [Fraction(one) for one in times if one is not None]
    assert known == sorted(known)
    assert (times[-1], "no switch" in found["timing=aggregate"]["reason"]) == (
        None,
        "no switch" in document["what_if"][-1]["reason"],
    )
    assert (
        found["method=ring"]["iteration_seconds"]
        == json_of("train", "astra-resnet50", "ring:4", "--method", "ring")["iteration_seconds"]
    )
    free = Fraction(found["communication=free"]["iteration_seconds"])
    assert free - Fraction(document["compute_seconds"]) < Fraction(document["exposed_seconds"]) / 100  # updates alone
    slower = Fraction(found["compute=1/2"]["iteration_seconds"])
    assert slower > Fraction(document["iteration_seconds"])
    saved = Fraction(found["bandwidth=2"]["saved"])
    assert saved == 1 - Fraction(found["bandwidth=2"]["iteration_seconds"]) / Fraction(document["iteration_seconds"])
    assert (
        "communication=free: "
        in certree("train", "astra-resnet50", "ring:4", "--method", "ring", "--what-if", "communication=free").out
    )


def test_groups_have_networks_of_their_own():
    document = json_of(
        "train", "astra-mlp-hybrid", "torus:4x4", "--group", "local=ring:4", "--group", "across=mesh:2x2", "--method", "multitree"
    )
    assert [(group["group"], group["topology"]) for group in document["groups"]] == [("across", "mesh:2x2"), ("local", "ring:4")]
    model = "transformer:layers=2,width=64,heads=4,sequence=32,data=4,pipeline=2,micro_batches=2,batch=2"
    words = certree("train", model, "ring:4", "--group", "pipeline=ring:2")
    assert "idle in the pipeline" in words.out
    assert "network of group pipeline, ring:2, busy" in words.out


DEMAND = ((0, 640, 320, 0), (0, 7, 160, 160), (480, 0, 0, 160), (160, 160, 150, 0))


def test_collectives_with_demands(tmp_path):
    """A file and its document have the same collective; it takes what its schedule does, in pieces and with others as one."""
    written = "".join(f"    [{', '.join(map(str, row))}],\n" for row in DEMAND)
    layer = '[[layers]]\nname = "{}"\nweight_gradient = {{ cycles = 9, collective = "alltoallv", demand = [\n{}] }}\n'
    head = 'format = "certree-workload"\nversion = 1\nname = "m"\nloop = "data"\nclock_hertz = "1e9"\n'
    (tmp_path / "w.toml").write_text(head + layer.format("a", written) + layer.format("b", written))
    workload = load_workload(str(tmp_path / "w.toml"))
    assert read_workload(workload_document(workload), "m") == workload
    asked = workload.layers[0].weight_gradient.communication
    assert (asked.demand, asked.bytes) == (DEMAND, 960 + 320 + 640 + 470)
    once, twice = (
        ct.simulate(
            ct.synthesize("ring:4", ct.collective("alltoallv", demand=ct.demand(amounts, "ring:4")), method="ring-all-to-all")
        ).cycles
        for amounts in (DEMAND, [[2 * amount for amount in row] for row in DEMAND])
    )
    for timing in ("closed-form", "slotted"):
        run = ct.train(workload, "ring:4", method="ring-all-to-all", timing=timing, iterations=1)
        assert run.training.busy("all") * 10**9 == 2 * once
    assert ct.train(workload, "ring:4", method="ring-all-to-all", overlap=False, iterations=1).training.busy("all") * 10**9 == twice
    with pytest.raises(InputError, match="m has an alltoallv, which is not for joint links"):
        ct.train(workload, "ring:4", joint=True)
    with pytest.raises(InputError, match="m has an alltoallv, which is not for joint schedules"):
        ct.train(workload, "ring:4", listed=True)
    pieces = asked.pieces(3)
    assert sum(piece.bytes for piece in pieces) == asked.bytes
    assert [[sum(piece.demand[i][j] for piece in pieces) for j in range(4)] for i in range(4)] == [list(row) for row in DEMAND]


def test_groups_of_some_endpoints():
    """A group among endpoints of the whole network takes what a schedule among them takes."""
    command = ("train", "astra-mlp-hybrid", "mesh:2x3", "--group", "local=0,1,4", "--method", "ring")
    document = json_of(*command, "--what-if", "local=ring:4")
    across, local = document["groups"]
    assert ("members" not in across, local["topology"], local["members"]) == (True, "mesh:2x3", [0, 1, 4])
    assert document["what_if"][0]["iteration_seconds"] != document["iteration_seconds"]
    found = ct.train(small(4096), "mesh:2x3", groups={"all": (1, 2, 4)}, method="ring", iterations=1)
    some = ct.collective("all-reduce", members=(1, 2, 4))
    made = ct.synthesize("mesh:2x3", some, method="ring", size=4096)
    assert found.training.busy("all") * 10**9 == ct.simulate(made).cycles
    assert found.seconds != ct.train(small(4096), "mesh:2x3", method="ring", iterations=1).seconds
    assert "network of group local, 3 endpoints of mesh:2x3, busy" in certree(*command).out
    bad = certree("train", "astra-resnet50", "ring:4", "--group", "all=0,9", "--method", "ring")
    assert_bad_input(bad, "group all: member 9 is not an endpoint of ring:4")
    for timing in ("endpoints", "aggregate"):
        asked = ("train", "astra-resnet50", "ace-torus:2x2x2", "--group", "all=0,1", "--timing", timing)
        assert_bad_input(certree(*asked), f"timing {timing}: not supported for collectives of some endpoints only (members)")


def test_a_timeline_for_perfetto(tmp_path):
    outcome = certree(*SMALL, "--trace", tmp_path / "t.json")
    assert outcome.err.endswith(f"wrote {tmp_path / 't.json'}\n")
    events = json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    slices = [event for event in events if event["ph"] == "X"]
    tracks = {(event["pid"], event["tid"]): event["args"]["name"] for event in events if event["name"] == "thread_name"}
    assert tracks == {(0, 0): "compute", (0, 1): "wait", (1, 0): "all"}
    own = [event for event in slices if event["pid"] == 0]
    assert all(abs(one["ts"] + one["dur"] - two["ts"]) < 1e-6 for one, two in pairwise(own))  # no gaps
    assert "Embedding all-to-all, 96 KiB" in {event["name"] for event in slices}


def small(*sizes):
    """A layer for each size of an all-reduce."""
    layers = [Layer(f"{size}", Part(), Part(), Part(100, Communication(CollectiveKind.ALL_REDUCE, size))) for size in sizes]
    return Workload("small", Loop.DATA, Fraction(10**9), tuple(layers))


def test_each_method_and_each_system():
    run = ct.train(small(4000), "switch:2", method="ring", what_if=["method=each"])
    entries = {entry.change: entry for entry in run.alternatives}
    assert {"method=auto", "method=cps", "method=recursive-doubling"} <= set(entries)
    assert "method=ring" not in entries  # that is the run itself
    assert not any("exact" in change or "packing" in change for change in entries)  # searches
    assert re.match(r"\d+ of \d+ do not apply: .*hdrm", entries["method=each"].reason)
    assert entries["method=cps"].seconds == ct.train(small(4000), "switch:2", method="cps").seconds
    run = ct.train(small(65536), "ace-torus:2x2x1", timing="endpoints", iterations=1, what_if=["system=each"])
    times = {entry.change: entry.seconds for entry in run.alternatives}
    assert times["system=ideal"] <= run.seconds < times["system=baseline"]
    assert set(times) == {"system=ideal", "system=baseline", "system=baseline++"}


def test_each_kind_of_collectives_has_methods_of_its_own():
    asked = Communication(CollectiveKind.ALL_TO_ALL, 4096)
    layer = Layer("both", Part(10, asked), Part(), Part(10, Communication(CollectiveKind.ALL_REDUCE, 4096)))
    workload = Workload("both", Loop.HYBRID, Fraction(10**9), (layer,))
    run = ct.train(workload, "ring:3", method=["ring", "all-to-all=direct"], iterations=1, what_if=["method=each"])
    changes = {entry.change for entry in run.alternatives}
    assert {"method=all-to-all=ring-all-to-all", "method=all-reduce=cps"} <= changes
    assert "method=all-to-all=cps" not in changes
    assert "method=all-to-all=direct" not in changes  # that is the run itself
    assert "method=auto" not in {one.change for one in ct.train(small(4000), "switch:2", what_if=["method=each"]).alternatives}


def test_schedules_in_fine_slots_are_booked_anew_for_each_size():
    """Method auto finds them for small messages; their times at other sizes are those of a simulation."""
    sizes = (1000, 1100)
    assert ct.synthesize("ring:4", size=sizes[0]).slot_cycles == 1
    closed, run = (ct.train(small(*sizes), "ring:4", timing=timing, iterations=1) for timing in ("closed-form", "slotted"))
    assert closed.seconds == run.seconds < ct.train(small(*sizes), "ring:4", method="ring", iterations=1).seconds


def test_groups_that_share_links_take_turns():
    command = ("train", "astra-mlp-hybrid", "ring:4", "--method", "ring", "--iterations", "2")
    own, shared = json_of(*command, "--what-if", "links=shared"), json_of(*command, "--shared-links", "--what-if", "links=own")
    assert (own["shared"], shared["shared"]) == (False, True)
    assert Fraction(own["iteration_seconds"]) < Fraction(shared["iteration_seconds"])
    assert own["what_if"][0]["iteration_seconds"] == shared["iteration_seconds"]
    assert shared["what_if"][0]["iteration_seconds"] == own["iteration_seconds"]
    run = ct.train("astra-mlp-hybrid", "ring:4", method="ring", shared=True)
    served = sorted(interval for one in run.training.collectives for interval in one.served)
    assert {one.communication.group for one in run.training.collectives} == {"local", "across"}
    assert all(one[1] <= two[0] for one, two in pairwise(served))  # one at a time
    alone = ct.train("astra-resnet50", "ring:2", method="ring", iterations=1, what_if=["links=shared"])
    assert alone.alternatives[0].seconds == alone.seconds
    assert ", groups take turns" in certree(*command, "--shared-links").out


def test_slices_of_a_track_do_not_overlap(tmp_path):
    """Endpoints serve collectives at once, each on a track of its own; Perfetto draws only slices that do not cross."""
    command = ("train", "astra-resnet50", "ace-torus:2x2x1", "--timing", "endpoints", "--iterations", "1")
    assert certree(*command, "--trace", tmp_path / "t.json").code == 0
    events = json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    slices = [event for event in events if event["ph"] == "X" and event["pid"] == 1]
    assert len(slices) == 54
    assert len({event["tid"] for event in slices}) > 1
    for track in {event["tid"] for event in slices}:
        mine = sorted((event["ts"], event["ts"] + event["dur"]) for event in slices if event["tid"] == track)
        assert all(one[1] <= two[0] + 1e-6 for one, two in pairwise(mine))
