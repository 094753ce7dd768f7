"""Registries: by decorator, each entry explained, no name twice, unknown names answered with the known ones."""

import pytest

from certree.models.common.errors import InputError
from certree.models.common.registry import Registry


def described():
    """Does a thing.

    And more.
    """


def tools(*names):
    registry = Registry("tool")
    for name in names:
        registry.register(name)(described)
    return registry


def test_entries_are_found_and_described():
    registry = tools("saw", "axe")
    assert list(registry) == ["axe", "saw"]
    assert registry["saw"] is described
    assert "saw" in registry
    assert "drill" not in registry
    assert registry.describe() == [("axe", "Does a thing."), ("saw", "Does a thing.")]
    assert registry.explain("saw") == "Does a thing.\n\nAnd more."


def test_what_is_refused():
    for ask in (tools("saw").explain, tools("saw").__getitem__):
        with pytest.raises(InputError, match="unknown tool 'drill'; known: saw"):
            ask("drill")
    with pytest.raises(ValueError, match="two tool entries are called 'saw'"):
        tools("saw", "saw")
    with pytest.raises(ValueError, match="the tool 'saw' needs a docstring"):
        tools().register("saw")(lambda: None)
