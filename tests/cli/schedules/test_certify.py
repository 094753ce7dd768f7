"""`certree certify`: evidence for schedules from anywhere."""

from certree.models.schedule.schedule_columns import Op
from certree.models.schedule.schedule_file import load_schedule, save_schedule
from certree.verify.checker import verify_schedule
from tests.cli.artefacts import schedule_file, with_columns
from tests.cli.running import certree, json_of
from tests.cli.schedules.test_synthesize import KEYS
from tests.cli.schedules.test_verify import CSV
from tests.models.examples import schedule


def test_certificate_is_added(tmp_path):
    bare = with_columns(schedule_file(tmp_path, "mesh:3x3", "multitree"), "bare.json")
    assert load_schedule(bare).certificate is None
    outcome = json_of("certify", bare, "-o", tmp_path / "certified.json")
    assert outcome.keys() >= KEYS
    assert [witness["kind"] for witness in outcome["witnesses"]] == ["partition", "distance"]
    certified = load_schedule(tmp_path / "certified.json")
    assert certified.digest == load_schedule(bare).digest
    assert certified.certificate["claim"]["bandwidth_bound"] == "2/3"
    assert verify_schedule(certified).valid


def test_certifying_again_changes_nothing(tmp_path):
    file = schedule_file(tmp_path)
    assert certree("certify", file, "-o", tmp_path / "again.json").code == 0
    assert (tmp_path / "again.json").read_bytes() == file.read_bytes()


def test_csv_becomes_a_certified_schedule(tmp_path):
    """Two nodes: a reduce and a copy are as few steps as there can be, and one chunk each way as few rounds."""
    (tmp_path / "mine.csv").write_text(CSV)
    arguments = ["certify", tmp_path / "mine.csv", "-o", tmp_path / "s.json", "--json"]
    document = certree(*arguments, "--topology", "ring:2", "--collective", "all-reduce").document
    assert (document["bandwidth_time"], document["bandwidth_bound"]) == ("2", "1")
    assert (document["latency_steps"], document["latency_bound"]) == (2, 1)
    assert document["gap"] == {"bandwidth": "1", "latency": "1"}
    assert certree("verify", tmp_path / "s.json").code == 0


def test_unequal_shares_are_bounded_too(tmp_path):
    """All three chunks are rooted at node 0 of a path: all of M enters node 2 over one link, which no equal-share bound says."""
    rows = [(chunk, Op.COPY, chunk + hop, hop, hop + 1) for chunk in range(3) for hop in range(2)]
    save_schedule(schedule("mesh:3", "all-gather", [0, 0, 0], rows), tmp_path / "shares.json")
    outcome = json_of("certify", tmp_path / "shares.json", "-o", tmp_path / "s.json")
    assert outcome["bandwidth_bound"] == "1"
