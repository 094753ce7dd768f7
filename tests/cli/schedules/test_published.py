"""`synthesize` of what is wrong as published: the violations, exit code 1, and a file without a certificate."""

from certree.models.schedule.schedule_file import load_schedule
from tests.cli.running import certree, json_of


def test_a_printed_formula_is_refuted_and_its_file_claims_nothing(tmp_path):
    file = tmp_path / "s.json"
    wrong = ("synthesize", "full:16", "--method", "switch-fc", "--option", "formula=printed")
    document = json_of(*wrong, "-o", file, code=1)
    assert document["valid"] is False
    assert {violation["rule"] for violation in document["violations"]} == {"duplicate", "missing"}
    assert "counts the contributions of nodes 9, 10 a second time" in document["violations"][0]["message"]
    assert load_schedule(file).certificate is None
    assert certree("verify", file).code == 1
    spoken = certree(*wrong)
    assert spoken.code == 1
    assert "invalid: all-reduce on full:16, made by switch-fc" in spoken.out


def test_the_same_formula_where_it_is_right_is_certified(tmp_path):
    file = tmp_path / "s.json"
    outcome = certree("synthesize", "full:8", "--method", "switch-fc", "--option", "formula=printed", "-o", file)
    assert outcome.code == 0
    assert certree("verify", file).code == 0


def test_published_rounds_are_refuted_where_they_contend():
    outcome = json_of("synthesize", "switch:4", "--method", "cps", "--option", "rounds=published", code=1)
    assert {violation["rule"] for violation in outcome["violations"]} <= {"contention", "capacity"}
