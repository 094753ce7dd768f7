"""The schemas of `--json` documents; every test of a command validates what it prints (`tests.cli.running.Outcome.document`)."""

import jsonschema
import pytest

from certree.api.reports.documents import DOCUMENTS
from certree.api.reports.schemas import document_schemas
from certree.cli.main import commands
from tests.cli.running import certree, json_of

SCHEMAS = document_schemas()


def test_every_command_has_a_document():
    """Commands that print another command's kind, or write files only, are left out; `topology` has a document for each command."""
    same = {"synthesize", "verify", "certify", "improve", "import"}
    own = {
        kind
        for kind in DOCUMENTS
        if kind
        not in (
            "schedule",
            "program",
            "verify-batch",
            "topology-show",
            "topology-list",
            "joint",
            "joint-run",
            "compare-collectives",
        )
    }
    only_files = {name for name in commands() if "--json" not in certree(name, "--help").out}
    assert only_files == {"draw", "report", "topology"}
    assert set(commands()) - same - only_files == own


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"time_cycles": "12"}, "is not valid under any"),
        ({"bandwidth_time": "0.5"}, "does not match"),
        ({"bandwidth_time": "1/0"}, "does not match"),
        ({"transfers": -1}, "less than the minimum"),
        ({"witnesses": [{"kind": "cut"}]}, "is a required property"),
        ({"valid": None}, "is not of type 'boolean'"),
        ({"version": 2}, "was expected"),
    ],
)
def test_wrong_documents_are_refused(change, message):
    document = json_of("synthesize", "ring:3", "--method", "ring")
    with pytest.raises(jsonschema.ValidationError, match=message):
        jsonschema.validate(document | change, SCHEMAS[document["format"]])


def test_a_missing_key_is_refused():
    document = json_of("synthesize", "ring:3", "--method", "ring")
    del document["valid"]
    with pytest.raises(jsonschema.ValidationError, match="'valid' is a required property"):
        jsonschema.validate(document, SCHEMAS["certree-schedule-report"])


def test_errors_are_documents(tmp_path):
    for arguments, code, kind in (
        (("bound", "tours:4x4"), 2, "TopologyError"),
        (("bound",), 2, "MissingParameter"),
        (("verify", tmp_path / "none.json"), 2, "InputError"),
        (("no-such-command",), 2, "UsageError"),
    ):
        failed = certree(*arguments, "--json")
        assert failed.code == code
        assert failed.document["kind"] == kind
        assert failed.err == f"error: {failed.document['error']}\n"


def test_schemas_can_be_printed():
    assert certree("list", "--schema").out.split() == sorted([*certree("list", "--schema").out.split()])
    assert '"const": "certree-bound-report"' in certree("list", "certree-bound-report", "--schema").out
    assert certree("list", "certree-bond-report", "--schema").code == 2
