"""Theorems of the modules say what models check."""

import pytest

from certree.extras.tla.check.model_file import listed
from certree.extras.tla.check.model_runs import specs_folder
from certree.extras.tla.check.tlc import Result
from tools.specs.mutants import modules_of, theorems

STATED = [(path.stem, spec, kept) for path in sorted(specs_folder().glob("*.tla")) for spec, kept in theorems(path.read_text())]


def test_every_refinement_is_a_theorem():
    assert [module for module, _, _ in STATED] == [
        "InNetworkReduce", "MCNIPaced", "MCScheduleApart", "NIJoint", "NIPaced", "NIProof", "NIProof", "NIUses",
        "Schedule", "ScheduleBuffers",
    ]  # fmt: skip


@pytest.mark.parametrize(("module", "spec", "kept"), STATED, ids=lambda part: part if isinstance(part, str) else ",".join(part))
def test_a_model_checks_it(module, spec, kept):
    checked = [
        model.name
        for model in listed().models.values()
        if model.expected.result is Result.SUCCESS
        and module in modules_of([model])
        and model.configuration.spec == spec
        and set(kept) <= set(model.configuration.properties)
    ]
    assert checked
