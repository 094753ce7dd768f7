"""Symmetric schedules kept as base trees and a group, through the commands."""

import json

import pytest

from tests.cli.running import certree, json_of


@pytest.fixture
def folded(tmp_path):
    path = tmp_path / "folded.json"
    made = certree("synthesize", "torus:4x4", "--method", "symmetric", "--option", "form=folded", "-o", path, "--json")
    assert made.code == 0, made.err
    assert made.document["transfers"] == 16 * made.document["base_transfers"]
    return path


def test_verified_certified_exported_and_simulated(folded, tmp_path):
    verdict = certree("verify", folded)
    assert verdict.code == 0
    assert f"stored as {len(json.loads(folded.read_bytes())['transfers']['src'])} and their images" in verdict.out
    assert certree("certify", folded, "-o", tmp_path / "again.json.gz").code == 0
    assert json_of("verify", tmp_path / "again.json.gz") == json_of("verify", folded)
    assert certree("export", folded, "--size", "1MiB", "-o", tmp_path / "tables").code == 0
    simulated = json_of("simulate", tmp_path / "tables")
    assert simulated == json_of("simulate", folded, "--size", "1MiB")
    assert simulated["cycles"] == json_of("verify", folded, "--size", "1MiB")["time_cycles"]


def test_refuted_on_the_base(folded):
    document = json.loads(folded.read_bytes())
    document["certificate"] = None
    document["transfers"]["dst"][0] = document["transfers"]["src"][0]
    folded.write_text(json.dumps(document))
    verdict = certree("verify", folded)
    assert verdict.code == 1
    assert "self: step 0: row 0 (reduce of chunk 0, " in verdict.out
    assert certree("export", folded, "-o", folded.parent / "tables").code == 1
    assert not (folded.parent / "tables").exists()


def test_what_is_too_large_is_refused_in_one_line(tmp_path):
    path = tmp_path / "large.json.gz"
    made = certree("synthesize", "torus:16x16x16", "--collective", "all-gather", "--method", "symmetric", "-o", path)
    assert made.code == 0, made.err
    assert path.stat().st_size < 100_000
    assert certree("verify", path).code == 0
    for command in (("export", path, "-o", tmp_path / "tables"), ("simulate", path)):
        outcome = certree(*command)
        assert outcome.code == 2
        assert outcome.err == "error: 33546240 transfers, stored as 8190 and images; at most 8388608 are written out\n"
    assert not (tmp_path / "tables").exists()
