"""Bundles: the same input gives the same bytes, everything is re-checked, and wrong evidence is found by the right item."""

import copy
import json
import random
from dataclasses import replace

import pytest

import certree.api as ct
from certree.api.api_errors import InvalidBundleError, InvalidScheduleError
from certree.api.artefacts import Asked
from certree.api.checks.verdicts import checked_source
from certree.extras.bundles import reading
from certree.extras.bundles.check.documents import bundle_report, bundle_words
from certree.extras.bundles.evidence import Status, load_evidence
from certree.extras.bundles.items import tla
from certree.extras.bundles.model.bundle import FRONTIER, PAGE, SCHEDULE, Bundle, Item, bundle_of
from certree.models.common.errors import InputError
from certree.models.common.files import canonical_json
from certree.verify.verdict import Verdict

FEW = ["MCSchedule", "MCScheduleGather"]  # models of TLC, enough here


@pytest.fixture(scope="module", autouse=True)
def few_models():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tla, "MODULES", ("MCSchedule",))
        patch.setattr(tla, "_names", lambda: FEW)
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("bundles")


@pytest.fixture(scope="module")
def ring(folder, few_models):
    """ring:4 with everything, TLC included."""
    return ct.bundle(ct.synthesize("ring:4", method="ring", size="4KiB"), folder / "ring.certree").bundle


@pytest.fixture(scope="module")
def plain(folder):
    """A schedule whose fewest steps are proved, without TLC."""
    made = ct.synthesize("ring:5", method="exact", chunks=3, size="4KiB")
    return ct.bundle(made, folder / "plain.certree", tla=False, runs=["slotted", "paced"]).bundle


@pytest.fixture(scope="module")
def frontier(folder):
    return ct.bundle(ct.frontier("ring:4", max_chunks=3), folder / "frontier.certree").bundle


def changed(bundle: Bundle, members=None, items=None, **fields) -> Bundle:
    """A bundle with other members (None: without), whose manifest and hashes are right."""
    contents = {name: data for name, data in {**bundle.members, **(members or {})}.items() if data is not None}
    entries = [
        Item(item.name, tuple(name for name in item.members if name in contents), item.absent)
        for item in (bundle.items if items is None else items)
    ]
    return bundle_of(replace(bundle, members=contents, items=tuple(entries), **fields).data, "forged")


def json_changed(bundle: Bundle, name: str, change) -> Bundle:
    document = copy.deepcopy(bundle.document(name))
    change(document)
    return changed(bundle, {name: canonical_json(document)})


def wrong(bundle: Bundle, **options) -> list[str]:
    """The items that failed."""
    return [item.name for item in ct_verify(bundle, **options).items if item.status is Status.FAILED]


def ct_verify(bundle: Bundle, **options):
    from certree.extras.bundles.check.checking import verify_bundle

    return verify_bundle(bundle, **options)


def statuses(bundle: Bundle) -> dict[str, str]:
    return {item.name: str(item.status) for item in ct_verify(bundle).items}


def test_every_item_says_what_was_done(ring, plain, frontier) -> None:
    whole = {
        "archive": "re-checked",
        "schedule": "re-checked",
        "bounds": "re-checked",
        "time-bound": "re-checked",
        "tables": "re-checked",
        "deadlock": "re-checked",
    }
    assert statuses(ring) == {
        **whole,
        "fewest-steps": "absent",
        "fewest-cycles": "absent",
        "order": "absent",
        "optimum": "absent",
        "runs: slotted": "re-ran",
        "tla: models": "trusted",
        "tla: tables": "trusted",
        "RECHECK.md": "re-checked",
        "origin": "trusted",
    }
    assert statuses(plain) == {
        **whole,
        "fewest-steps": "re-checked",
        "fewest-cycles": "absent",
        "order": "absent",
        "optimum": "absent",
        "runs: slotted": "re-ran",
        "runs: paced": "re-ran",
        "tla": "absent",
        "RECHECK.md": "re-checked",
        "origin": "trusted",
    }
    parts = {f"frontier: {part}": "re-checked" for part in ("points", "refutations", "claims")}
    assert statuses(frontier) == {"archive": "re-checked", **parts, "RECHECK.md": "re-checked", "origin": "trusted"}


def test_order(folder) -> None:
    made = ct.synthesize("ring:4", method="ordered", order="nested", size="4KiB")
    bundle = ct.bundle(made, folder / "ordered.certree", tla=False).bundle
    assert statuses(bundle)["order"] == "re-checked"
    for change in (lambda d: d["order"].update(expression="((0,2),(1,3))"), lambda d: d["order"].update(nested=False), dict.clear):
        assert wrong(json_changed(bundle, "order.json", change)) == ["order"]


def test_each_kind_of_evidence_is_on_the_page(ring) -> None:
    text = ring.members[PAGE].decode()
    for name in load_evidence("schedule"):
        assert f"| {name} |" in text
    owned = {item.name: item.members for item in ring.items}
    assert owned["schedule"] == (SCHEDULE,)
    assert "tables/manifest.json" in owned["tables"]
    assert {"tla/results.json", "tla/NILockstep.tla", "tla/MCSchedule.cfg", "tla/GeneratedCheckNILockstep.tla"} < set(owned["tla"])


def test_tlc_can_run_again(ring) -> None:
    again = ct_verify(ring, trust="none")
    assert {item.name: str(item.status) for item in again.items if item.name.startswith("tla")} == {
        "tla: models": "re-ran",
        "tla: tables": "re-ran",
    }
    assert again.valid

    def more(document) -> None:
        document["tables"]["distinct_states"] += 1

    assert wrong(json_changed(ring, "tla/results.json", more), trust="none") == ["tla: tables"]


@pytest.mark.parametrize("name", ["ring", "plain", "frontier"])
def test_the_same_input_gives_the_same_bytes(name, request, folder) -> None:
    first = request.getfixturevalue(name)
    again = folder / f"{name}-again.certree"
    if name == "frontier":
        (folder / "frontier.json").write_bytes(first.members[FRONTIER])
        ct.bundle(folder / "frontier.json", again, force=True)
    else:
        ct.save(first.schedule, folder / f"{name}.json", force=True)
        modes = list(reading.runs(first))
        ct.bundle(folder / f"{name}.json", again, tla=name == "ring", runs=modes, force=True)
    assert again.read_bytes() == first.data


@pytest.mark.parametrize("name", ["ring", "plain", "frontier"])
def test_no_altered_byte_passes(name, request) -> None:
    """The first, the last and a drawn byte of every member, every byte of some records of the zip, and a thousand drawn bytes."""
    bundle, draw = request.getfixturevalue(name), random.Random(0)
    data = bundle.data
    places = {draw.randrange(len(data)) for _ in range(200)} | set(range(120)) | set(range(len(data) - 200, len(data)))
    for member in bundle.members.values():
        start = data.index(member)
        places |= {start, start + len(member) - 1, start + draw.randrange(len(member)), start - 1}
    for place in sorted(places):
        flipped = data[:place] + bytes([data[place] ^ (1 << draw.randrange(8))]) + data[place + 1 :]
        with pytest.raises(InputError):
            bundle_of(flipped, "f")


def test_round_trip(ring, folder) -> None:
    schedule = ct.import_tables(folder / "ring.certree")
    assert canonical_json(dict(schedule.certificate)) == canonical_json(dict(ring.schedule.certificate))
    assert schedule.digest == ct.load(folder / "ring.certree").digest
    stated = reading.runs(ring)["slotted"]["cycles"]
    assert ct.simulate(reading.tables(ring)).cycles == stated == ct.simulate(folder / "ring.certree").cycles
    for name, data in ring.under("tables").items():
        (folder / "tables").mkdir(exist_ok=True)
        (folder / "tables" / name).write_bytes(data)
    assert ct.simulate(folder / "tables").cycles == stated
    assert ct.bundle(folder / "tables", folder / "t.certree", tla=False).valid
    assert reading.model_checks(ring)["tables"]["result"] == "success"
    with pytest.raises(InputError, match="bundle of a frontier"):
        _ = ct.bundle(ct.frontier("ring:3", max_chunks=1), folder / "f3.certree").bundle.schedule


def without_transfer(document) -> None:
    for column in document["transfers"].values():
        column.pop()


def bound_value(document) -> None:
    document["certificate"]["bounds"][0]["value"] = "99/100"


def claim_value(document) -> None:
    document["certificate"]["claim"]["latency_bound"] += 1


def no_certificate(document) -> None:
    document["certificate"] = None


def wrong_proof(document) -> None:
    document["certificate"]["fewest_steps"]["proof"]["sha256"] = "0" * 64


def no_proof(document) -> None:
    del document["certificate"]["fewest_steps"]


def time_value(document) -> None:
    document["certificate"]["time"]["bound_cycles"] += 1


def other_size(document) -> None:
    document["made_for"]["message_bytes"] *= 2


def other_machine(document) -> None:
    document["made_for"]["machine"]["router_cycles"] = 17


@pytest.mark.parametrize(
    ("name", "change", "items"),
    [
        (SCHEDULE, without_transfer, ["schedule"]),
        (SCHEDULE, lambda d: d["transfers"]["step"].__setitem__(0, 3), ["schedule"]),
        (SCHEDULE, lambda d: d.pop("rounds"), ["schedule"]),
        (SCHEDULE, bound_value, ["bounds"]),
        (SCHEDULE, claim_value, ["bounds"]),
        (SCHEDULE, no_certificate, ["bounds", "fewest-steps"]),
        (SCHEDULE, wrong_proof, ["fewest-steps"]),
        (SCHEDULE, no_proof, ["fewest-steps"]),
        (SCHEDULE, time_value, ["bounds"]),
        (SCHEDULE, lambda d: d["certificate"].pop("time"), ["time-bound"]),
        (SCHEDULE, other_size, ["tables", "time-bound"]),
        (SCHEDULE, other_machine, ["tables", "time-bound"]),
        (SCHEDULE, lambda d: d.pop("made_for"), ["tables", "time-bound"]),
        ("tables/manifest.json", lambda d: d.update(slot_cycles=d["slot_cycles"] + 1), ["runs: slotted"]),
        ("tables/manifest.json", lambda d: d.update(slot_cycles=1), ["tables"]),
        ("tables/manifest.json", lambda d: d.update(delay=2), ["tables"]),
        ("tables/manifest.json", lambda d: d.update(note="x"), ["tables"]),
        ("deadlock.json", lambda d: d.update(free=False), ["deadlock"]),
        ("deadlock.json", lambda d: d.update(machine="other"), ["deadlock"]),
        ("deadlock.json", lambda d: d["numbering"].append({}), ["deadlock"]),
        ("deadlock.json", lambda d: d.pop("numbering"), ["deadlock"]),
        ("runs/slotted.json", lambda d: d.update(cycles=d["cycles"] - 1), ["runs: slotted"]),
        ("runs/slotted.json", lambda d: d.update(data_ok=1), ["runs: slotted"]),
        ("runs/slotted.json", lambda d: d.update(late=None), ["runs: slotted"]),
        ("runs/slotted.json", lambda d: d.pop("engine"), ["runs: slotted"]),
        ("runs/slotted.json", lambda d: d.update(award="gold"), ["runs: slotted"]),
        ("runs/paced.json", lambda d: d.update(machine="abacus"), ["runs: paced"]),
    ],
)
def test_wrong_evidence_is_found_by_its_item(plain, name, change, items) -> None:
    assert wrong(json_changed(plain, name, change)) == items


@pytest.mark.parametrize(
    ("change", "items"),
    [
        (lambda d: d["models"][0].update(distinct_states=122), ["tla: models"]),
        (lambda d: d["models"].pop(), ["tla: models"]),
        (lambda d: d["models"][0].update(result="safety"), ["tla: models"]),
        (lambda d: d["tool"].update(sha256="0" * 64), ["tla"]),
        (lambda d: d["modules"].update({"NILockstep.tla": "0" * 64}), ["tla"]),
        (lambda d: d["tables"].update(result="unknown"), ["tla: tables"]),
        (lambda d: d["tables"].update(mode="simulation"), ["tla: tables"]),
        (lambda d: d["tables"].update(message="all states, twice"), ["tla: tables"]),
        (lambda d: d["tables"].update(distinct_states=None), ["tla: tables"]),
        (lambda d: d["tables"].update(distinct_states="63"), ["tla"]),
        (lambda d: d["tables"].update(total_states=0), ["tla"]),
        (lambda d: d["tables"].pop("message"), ["tla"]),
        (lambda d: d.update(version=2), ["tla"]),
    ],
)
def test_wrong_results_of_tlc_are_found(ring, change, items) -> None:
    assert wrong(json_changed(ring, "tla/results.json", change)) == items


@pytest.mark.parametrize(
    "name", ["NILockstep.tla", "MCSchedule.cfg", "GeneratedCheckNILockstep.tla", "GeneratedCheckNILockstep.cfg"]
)
def test_what_tlc_read_is_compared(ring, name) -> None:
    """With a weaker module TLC would find nothing."""
    assert wrong(changed(ring, {f"tla/{name}": ring.members[f"tla/{name}"].replace(b"=", b"=  ", 1)})) == ["tla"]
    assert wrong(changed(ring, {f"tla/{name}": None})) == ["tla"]


def test_members_that_do_not_belong(ring) -> None:
    items = [Item(item.name, (*item.members, "tla/Other.tla")) if item.name == "tla" else item for item in ring.items]
    assert wrong(changed(ring, {"tla/Other.tla": b"x"}, items)) == ["tla"]
    assert wrong(changed(ring, {PAGE: b"trust me\n"})) == [PAGE]
    rows = next(name for name, data in ring.members.items() if name.endswith(".hex") and b"0" in data)
    assert wrong(changed(ring, {rows: ring.members[rows].replace(b"0", b"1", 1)})) == ["tables"]


def test_evidence_of_another_schedule(ring, folder) -> None:
    """Valid tables, a valid certificate and a valid schedule that do not belong together."""
    other = ct.bundle(ct.synthesize("ring:4", method="multitree", size="4KiB"), folder / "o.certree", tla=False).bundle
    foreign = {name: data for name, data in other.members.items() if name.startswith("tables/")}
    items = [replace(item, members=tuple(foreign)) if item.name == "tables" else item for item in ring.items]
    contents = {**ring.members, **foreign}
    order = [PAGE, *(name for item in items for name in item.members)]
    mixed = replace(ring, members={name: contents[name] for name in order}, items=tuple(items))
    assert wrong(bundle_of(mixed.data, "mixed")) == ["tables"]

    def swap(document) -> None:
        document["certificate"] = json.loads(other.members[SCHEDULE])["certificate"]

    assert wrong(json_changed(ring, SCHEDULE, swap)) == ["bounds"]


def test_the_proof_of_an_optimum_is_checked(tmp_path) -> None:
    certified = ct.certify_exact(ct.synthesize("ring:5", method="multitree", size="4KiB")).schedule
    right = ct.bundle(certified, tmp_path / "ring.certree", tla=False).bundle
    told = {item.name: item for item in ct_verify(right).items}
    assert told["optimum"].text.startswith("(5, 4, 4) (chunks, steps, rounds): the proofs")
    assert wrong(json_changed(right, SCHEDULE, lambda d: d["certificate"]["optimum"]["refuted"].pop())) == ["optimum"]
    assert wrong(json_changed(right, SCHEDULE, lambda d: d["certificate"].pop("optimum"))) == ["optimum"]
    assert wrong(absent(right, "optimum")) == ["optimum", PAGE]

    fewest = ct.certify_exact(ct.synthesize("switch:4", method="one-shot", size="128B")).schedule
    shot = ct.bundle(fewest, tmp_path / "shot.certree", tla=False).bundle
    assert {item.name: item.text for item in ct_verify(shot).items}["fewest-cycles"].startswith("369 cycles: the proofs")
    assert wrong(json_changed(shot, SCHEDULE, lambda d: d["certificate"]["fewest_cycles"]["refuted"].pop())) == ["fewest-cycles"]


def absent(bundle: Bundle, name: str, reason: str = "lost") -> Bundle:
    """Without an item, as the manifest says."""
    gone = {member: None for item in bundle.items if item.name == name for member in item.members}
    return changed(bundle, gone, [Item(name, absent=reason) if item.name == name else item for item in bundle.items])


def test_evidence_that_was_left_out_is_told(ring, plain) -> None:
    assert wrong(absent(ring, "tables")) == ["tables", PAGE]
    for name in ("fewest-steps", "time-bound"):
        assert wrong(absent(plain, name)) == [name, PAGE]
    told = {item.name: item for item in ct_verify(absent(plain, "runs")).items}
    assert (told["runs"].status, told["runs"].text) == (Status.ABSENT, "lost")
    older = changed(
        plain, {f"runs/{name}": None for name in plain.under("runs")}, [one for one in plain.items if one.name != "runs"]
    )
    assert statuses(older)["runs"] == "absent"
    told = {item.name: item for item in ct_verify(absent(plain, "deadlock")).items}
    assert told["deadlock"].text.startswith("the bundle has no certificate; found out now: no circle")
    other = json_changed(ring, "tla/results.json", lambda d: d.update(tables={"absent": "no time"}))
    told = {item.name: item for item in ct_verify(other).items}
    assert told["tla: tables"].text == "although TLC can check these tables: no time"


def test_what_needs_a_wrong_item_is_skipped(plain) -> None:
    found = statuses(json_changed(plain, SCHEDULE, without_transfer))
    assert {name for name, status in found.items() if status == "skipped"} == {
        "bounds",
        "fewest-steps",
        "fewest-cycles",
        "optimum",
        "order",
        "time-bound",
        "tables",
        "deadlock",
        "runs",
        "tla",
    }
    assert not ct_verify(json_changed(plain, SCHEDULE, without_transfer)).valid


def test_versions_are_taken_on_trust_and_said_so(plain) -> None:
    other = changed(plain, made_with={"certree": "7.0", "python": "4"})
    told = {item.name: item for item in ct_verify(other).items}
    assert told["origin"].text.startswith("made with certree 7.0, python 4")
    assert told[PAGE].status is Status.TRUSTED
    with pytest.raises(InputError, match=r"made with certree .*: unknown item of evidence 'oracle'; known: schedule"):
        ct_verify(changed(plain, items=[*plain.items, Item("oracle")]))


def points(document) -> None:
    document["points"][0]["schedule"]["transfers"]["step"][0] = 1


@pytest.mark.parametrize(
    ("change", "items"),
    [
        (points, ["frontier: points", "frontier: claims"]),
        (lambda d: d["refuted"].pop(), ["frontier: claims"]),
        (
            lambda d: d["refuted"][0].update(proof={"kind": "implied", "by": [3, 3, 3]}),
            ["frontier: refutations", "frontier: claims"],
        ),
        (lambda d: d.update(all_chunks=not d["all_chunks"]), ["frontier: claims"]),
        (lambda d: d["bandwidth"].update(value="9"), ["frontier: claims"]),
        (lambda d: d.pop("points"), ["frontier"]),
        (lambda d: d.update(version=1), ["frontier"]),
    ],
)
def test_wrong_frontiers(frontier, change, items) -> None:
    assert wrong(json_changed(frontier, FRONTIER, change)) == items


def test_what_was_asked_for(plain, frontier) -> None:
    network = ct.topology("ring:6")
    assert wrong(plain, topology=network) == ["topology"]
    assert wrong(frontier, topology=network) == ["topology"]
    assert ct_verify(plain, topology=ct.topology("ring:5"), collective=ct.collective("all-reduce")).valid
    for bundle in (plain, frontier):
        with pytest.raises(InputError, match="the collective is all-reduce, not all-gather"):
            ct_verify(bundle, collective=ct.collective("all-gather"))


@pytest.mark.parametrize(
    ("network", "collective", "method", "has_tables"),
    [
        ("torus:3x3", "all-gather", "symmetric", True),
        ("mesh:2x2", "all-to-all", "flows", True),
        ("full:4", "all-reduce", "recursive-doubling", True),
        ("switch:4,reducing=switches", "all-reduce", "netreduce", False),
        ("switch:4", "reduce-scatter", "auto", True),
        ("mesh:2x3,without-link=0-1", "broadcast", "auto", True),
    ],
)
def test_schedules_of_every_kind(folder, network, collective, method, has_tables) -> None:
    root = 0 if collective == "broadcast" else None
    made = ct.synthesize(network, collective, root=root, method=method, size="4KiB")
    path = folder / f"{network.replace(':', '')}-{collective}.certree"
    found = ct.bundle(made, path, tla=False)
    assert found.valid
    assert (found.bundle.item("tables").absent is None) is has_tables
    assert ct.verify(path).items == found.items
    if not has_tables:
        assert {item.name: item.status for item in found.items}["runs: slotted"] is Status.RERAN


def test_collectives_among_some_endpoints(folder) -> None:
    made = ct.synthesize("mesh:3x3", ct.collective("all-reduce", members=[0, 2, 4, 5, 6, 7]), size="4KiB")
    report = bundle_report(ct.bundle(made, folder / "members.certree", tla=False))
    assert report["members"] == [0, 2, 4, 5, 6, 7]
    assert bundle_words(report).startswith("valid: bundle of all-reduce among nodes 0, 2, 4, 5, 6, 7 on mesh:3x3\n")


def test_symmetric_schedules_stay_symmetric(folder) -> None:
    made = ct.synthesize("torus:4x4", "all-gather", method="symmetric", options={"form": "folded"}, size="64KiB")
    found = ct.bundle(made, folder / "folded.certree", tla=False)
    assert isinstance(found.bundle.schedule, ct.SymmetricSchedule)
    assert found.bundle.schedule.digest == made.digest
    assert wrong(json_changed(found.bundle, SCHEDULE, lambda d: d["transfers"]["step"].__setitem__(0, 2))) == ["schedule"]


def test_refusals(folder, ring, frontier) -> None:
    good = ring.schedule
    bad = replace(good, certificate=None, step=good.step[::-1])
    with pytest.raises(InvalidScheduleError):
        ct.bundle(bad, folder / "bad.certree")
    forged = replace(good, certificate={**good.certificate, "schedule": "0" * 64})
    with pytest.raises(InvalidScheduleError, match="certificate-schedule"):
        ct.bundle(forged, folder / "bad.certree")
    for options, reason in (
        ({"runs": ["fast"]}, "unknown run mode 'fast'"),
        ({"format": "xml"}, "unknown table format 'xml'"),
        ({"topology": "ring:5"}, "which is not the network asked for"),
    ):
        with pytest.raises(InputError, match=reason):
            ct.bundle(good, folder / "bad.certree", **options)
    with pytest.raises(InputError, match="size and machine do not apply"):
        ct.bundle(reading.tables(ring), folder / "bad.certree", size="1KiB")
    (folder / "frontier.json").write_bytes(frontier.members[FRONTIER])
    with pytest.raises(InputError, match="size and machine do not apply"):
        ct.bundle(folder / "frontier.json", folder / "bad.certree", size="1KiB")
    (folder / "wrong.json").write_bytes(frontier.members[FRONTIER].replace(b'"complete":true', b'"complete":false'))
    with pytest.raises(InputError, match="the frontier is invalid: frontier-claim"):
        ct.bundle(folder / "wrong.json", folder / "bad.certree")
    with pytest.raises(InputError, match=r"must end in \.certree"):
        ct.bundle(good, folder / "bad.zip")
    assert not (folder / "bad.certree").exists()
    (folder / "no.certree").write_bytes(json_changed(ring, SCHEDULE, no_certificate).data)
    with pytest.raises(InvalidBundleError, match="bounds: the schedule has no certificate"):
        ct.import_tables(folder / "no.certree")
    with pytest.raises(InputError, match="unknown trust 'blind'; known: hashes, none"):
        ct.verify(folder / "ring.certree", trust="blind")
    with pytest.raises(InputError, match="trust none is for bundles"):
        ct.verify(good, trust="none")


def test_the_verdict_of_costs_is_on_the_schedule(tmp_path) -> None:
    """Not on the bundle: a damaged item says nothing about the transfers."""
    schedule = ct.synthesize("ring:4", size="64KiB")
    ct.bundle(schedule, tmp_path / "ring.certree", tla=False)
    checked = checked_source(tmp_path / "ring.certree", Asked())
    assert isinstance(checked.verdict, Verdict)
    assert checked.verdict.valid
    assert checked.verdict.quality is not None
    (cell,) = ct.cost(tmp_path / "ring.certree").cells
    assert cell["valid"]
