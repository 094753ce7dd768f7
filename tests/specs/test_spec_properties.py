"""Properties of the specifications in `certree list`."""

import certree.api as ct
from certree.extras.tla.check.model_file import listed
from certree.extras.tla.check.spec_properties import load_properties


def test_every_property_of_a_model_is_explained() -> None:
    asked = {
        name
        for model in listed().models.values()
        for name in (*model.configuration.invariants, *model.configuration.properties, *model.expected.breaks.split())
    }
    assert asked <= set(load_properties())
    assert all(text.strip() for name in load_properties() for text in load_properties()[name].modules.values())


def test_a_property_of_several_modules_has_the_words_of_each() -> None:
    assert ct.explain("RightSum").split("\n\n") == [
        "What a host takes for a result is the sum of all contributions. (InNetworkReduce)",
        "What is finished is right, as an invariant. (NIProof)",
    ]


def test_a_definition_without_a_comment_has_the_one_before_it() -> None:
    modules = load_properties()["NothingCountsLate"].modules
    assert modules["NIProof"] == load_properties()["NothingCountsEarly"].modules["NIProof"]
