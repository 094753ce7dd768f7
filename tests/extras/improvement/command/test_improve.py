"""`certree improve`: what it writes, what it refuses."""

from certree.models.schedule.schedule_file import load_schedule
from tests.cli.running import certree, json_of

RIGHT = "chunk,op,src,dst,step\n0,reduce,1,0,0\n0,reduce,2,0,2\n0,copy,0,1,4\n0,copy,0,2,5\n"


def test_a_csv_gets_faster(tmp_path):
    path, out = tmp_path / "mine.csv", tmp_path / "better.json"
    path.write_text(RIGHT)
    made = certree("improve", path, "--topology", "ring:3", "--collective", "all-reduce", "--size", "3KiB", "-o", out, "--json")
    assert made.code == 0, made.err
    assert made.document["valid"]
    assert made.document["time_cycles"] < made.document["cycles_before"]
    assert "cycles: " in made.err
    verdict = json_of("verify", out, "--size", "3KiB")
    assert verdict["time_cycles"] == made.document["time_cycles"]
    again = certree("improve", out, "--size", "3KiB", "-o", tmp_path / "again.json")
    assert "unchanged: nothing faster than" in again.out or "improved: " in again.out


def test_what_cannot_get_faster_is_kept(tmp_path):
    path, out = tmp_path / "mine.json", tmp_path / "same.json"
    assert certree("synthesize", "full:3", "--method", "direct", "--size", "1KiB", "-o", path).code == 0
    made = certree("improve", path, "--size", "1KiB", "-o", out)
    assert made.code == 0
    if "unchanged" in made.out:
        assert load_schedule(out).digest == load_schedule(path).digest
