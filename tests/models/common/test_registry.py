"""Registries: by decorator, each entry explained, no name twice, unknown names answered with the known ones."""

import pytest

from certree.models.common.errors import InputError
from certree.models.common.registry import Registry


def described():
    """Does a thing.

    And more.
    """


def test_entries_are_found_and_described():
    registry = Registry("tool")
    registry.register("saw")(described)
    registry.register("axe")(described)
    assert list(registry) == ["axe", "saw"]
    assert registry["saw"] is described
    assert "saw" in registry
    assert "drill" not in registry
    assert registry.describe() == [("axe", "Does a thing."), ("saw", "Does a thing.")]


def test_an_entry_is_explained_whole():
    registry = Registry("tool")
    registry.register("saw")(described)
    assert registry.explain("saw") == "Does a thing.\n\nAnd more."
    with pytest.raises(InputError, match="unknown tool 'drill'; known: saw"):
        registry.explain("drill")


def test_unknown_name():
    registry = Registry("tool")
    registry.register("saw")(described)
    with pytest.raises(InputError, match="unknown tool 'drill'; known: saw"):
        registry["drill"]


def test_a_name_is_taken_once():
    registry = Registry("tool")
    registry.register("saw")(described)
    with pytest.raises(ValueError, match="two tool entries are called 'saw'"):
        registry.register("saw")(described)


def test_an_entry_needs_a_docstring():
    with pytest.raises(ValueError, match="the tool 'saw' needs a docstring"):
        Registry("tool").register("saw")(lambda: None)
