"""The page of versions lists what is deprecated, each with what to write instead and the version that no longer has it."""

import re
import warnings
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace

import click
import pytest
from typing_extensions import deprecated

import certree.api as ct
from certree.cli.main import certree
from certree.extras.tla.command.model_check import _CHOSE, specs_mode

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "versioning.md"
ROW = re.compile(r"^\| `([^`]+)` \| `([^`]+)` \| (\d+\.\d+) \| (\d+\.\d+) \|$", re.MULTILINE)


def test_the_page_lists_what_is_deprecated() -> None:
    found = {*in_commands(certree, ""), *in_python(vars(ct) | {name: getattr(ct, name) for name in ct.__all__})}
    found |= {f"certree model-check {option.opts[0]}" for option in specs_mode.params if option.name in _CHOSE}
    assert [row[0] for row in ROW.findall(PAGE.read_text())] == sorted(found)


def test_a_deprecated_name_goes_after_two_minor_versions() -> None:
    for _, _, since, gone in ROW.findall(PAGE.read_text()):
        assert minor(gone) == (minor(since)[0], minor(since)[1] + 2)
        assert minor(version("certree")) < minor(gone), "remove it"


def test_what_is_deprecated_is_found() -> None:
    @click.command(deprecated="Write new instead.", params=[click.Option(["--old"], deprecated="Write --new instead.")])
    def command() -> None: ...

    group = click.Group("program", commands={"command": command})
    assert set(in_commands(group, "")) == {"program command", "program command --old"}

    @deprecated("write new instead")
    def old() -> None: ...

    assert set(in_python(vars(SimpleNamespace(old=old, new=print)))) == {"ct.old"}
    with pytest.warns(DeprecationWarning, match="write new instead"):
        old()


def test_nothing_that_is_stable_warns() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)
        assert ct.verify(ct.synthesize("ring:3", method="ring")).valid


def in_commands(command: click.Command, before: str) -> Iterator[str]:
    """Commands and options below a command that click marks as deprecated, as they are typed."""
    name = f"{before} {command.name}".strip()
    if command.deprecated:
        yield name
    yield from (f"{name} {option.opts[0]}" for option in command.params if option.deprecated)
    if isinstance(command, click.Group):
        context = click.Context(command)
        for child in command.list_commands(context):
            found = command.get_command(context, child)
            assert found is not None
            yield from in_commands(found, name)


def in_python(names: dict[str, object]) -> Iterator[str]:
    """Names of the API that the decorator of PEP 702 marks as deprecated."""
    return (f"ct.{name}" for name, value in names.items() if hasattr(value, "__deprecated__"))


def minor(number: str) -> tuple[int, int]:
    """The first two numbers of a version."""
    first, second, *_ = number.split(".")
    return int(first), int(second)
