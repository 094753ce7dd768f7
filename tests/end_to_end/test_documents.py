"""What the commands write conforms to the schemas, certificates included."""

import copy
import json

import pytest

from tests.cli.running import certree, json_of
from tests.models.test_schemas import validator


@pytest.fixture(scope="module")
def document(tmp_path_factory):
    """A certified schedule as it is written."""
    file = tmp_path_factory.mktemp("documents") / "s.json"
    assert certree("synthesize", "torus:3x3,without-link=0-1", "--size", "64KiB", "-o", file).code == 0
    return json.loads(file.read_text())


def test_certified_schedules_conform(document):
    validator("schedule").validate(document)
    validator("certificate").validate(document["certificate"])
    validator("topology").validate(document["topology"])


@pytest.mark.parametrize("collective", ["all-gather", "reduce-scatter"])
def test_rooted_schedules_conform(tmp_path, collective):
    file = tmp_path / "s.json"
    assert certree("synthesize", "mesh:2x3", "--collective", collective, "--method", "multitree", "-o", file).code == 0
    validator("schedule").validate(json.loads(file.read_text()))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["format"], "certree-proof"),
        (["version"], 2),
        (["topology"], "mesh"),
        (["bounds"], {}),
        (["bounds", 0, "value"], 0.5625),
        (["bounds", 0, "quantity"], "cost"),
        (["claim", "bandwidth_time"], "0.5"),
        (["claim", "latency_steps"], "5"),
        (["claim", "optimal_in"], ["price"]),
        (["claim", "note"], "trust me"),
    ],
)
def test_the_verifier_refuses_what_the_certificate_schema_refuses(document, tmp_path, path, value):
    wrong = copy.deepcopy(document)
    *parents, last = path
    place = wrong["certificate"]
    for key in parents:
        place = place[key]
    place[last] = value
    assert not validator("certificate").is_valid(wrong["certificate"])
    assert not validator("schedule").is_valid(wrong)
    (tmp_path / "s.json").write_text(json.dumps(wrong))
    outcome = json_of("verify", tmp_path / "s.json", code=1)
    assert all("certificate" in found["rule"] or "witness" in found["rule"] for found in outcome["violations"])
