"""Python functions as methods: what they are given, what is refused, and that a faulty one is named."""

from collections.abc import Callable
from typing import Any

import pytest

import certree.api as ct
from certree.models.common.errors import InputError, UnsupportedError
from certree.models.schedule.schedule import Schedule

NAME = "of-a-test"


def star(net: Any, *, server: int = 0, **_: Any) -> Schedule:
    """All vectors to one server."""
    builder = ct.Builder(net)
    rest = [rank for rank in builder.ranks if rank != server]
    builder.reduce(chunk=0, src=rest, dst=server)
    builder.copy(chunk=0, src=server, dst=rest)
    return builder.schedule()


def test_a_function_is_compared_listed_and_remembers_its_options() -> None:
    ct.method(NAME, collectives=["all-reduce"])(star)
    made = ct.synthesize("switch:4", method=NAME, options={"server": 3}, size="1KiB")
    assert made.provenance["method"] == NAME
    assert made.provenance["options"] == {"server": 3}
    assert made.certificate is not None
    cells = ct.compare("switch:4", sizes=["1KiB"], methods=[NAME, "ring"]).cells
    assert [cell["method"] for cell in cells] == [NAME, "ring"]
    assert "All vectors to one server." in ct.explain(NAME)
    ct.method(NAME, collectives=["all-reduce"])(star)  # as when a cell of a notebook is run again


def test_the_function_gets_what_its_parameters_name() -> None:
    seen: dict[str, Any] = {}

    def asked(net: Any, *, collective: Any, root: int, size: int, chunks: int | None, form: Any = ("flat", "deep")) -> Schedule:
        seen.update(root=root, size=size, chunks=chunks, form=form)
        builder = ct.Builder(net, collective)
        builder.copy(chunk=0, src=root, dst=[rank for rank in builder.ranks if rank != root])
        return builder.schedule()

    ct.method(NAME, collectives=["broadcast"])(asked)
    ct.synthesize("switch:4", "broadcast", root=2, method=NAME, size="1KiB", options={"form": "deep"})
    assert seen == {"root": 2, "size": 1024, "chunks": None, "form": "deep"}
    with pytest.raises(InputError, match="option form='wide'; allowed: flat or deep"):
        ct.synthesize("switch:4", "broadcast", root=2, method=NAME, options={"form": "wide"})
    with pytest.raises(UnsupportedError, match="does not make all-reduce"):
        ct.synthesize("switch:4", method=NAME)


def raising(net: Any, **_: Any) -> Any:
    """Divides by zero."""
    return 1 // 0


def elsewhere(net: Any, **_: Any) -> Any:
    """Returns a schedule of another network."""
    return star(ct.topology("switch:5"))


FAULTY: list[tuple[Callable[..., Any], str]] = [
    (raising, r"test_python_methods.py:\d+ raised ZeroDivisionError"),
    (elsewhere, r"returned all-reduce on switch:5; asked for was all-reduce on switch:4"),
    (lambda net, **_: 7, r"returned int; allowed: a Schedule"),
    (lambda net, **_: ct.Builder(net).schedule(), r"the builder has no transfers"),
    (lambda net, **_: star(net, server=9), r"dst is 9; allowed: whole numbers from 0 to 4"),
]


@pytest.mark.parametrize(("function", "message"), FAULTY)
def test_a_faulty_function_is_named_and_others_are_compared(function: Callable[..., Any], message: str) -> None:
    ct.method(NAME, collectives=["all-reduce"])(function)
    with pytest.raises(UnsupportedError, match=f"^{NAME}: .*{message}"):
        ct.synthesize("switch:4", method=NAME, size="1KiB")
    cells = ct.compare("switch:4", sizes=["1KiB"], methods=[NAME, "ring"]).cells
    assert [NAME in str(cell.get("not_applicable")) for cell in cells] == [True, False]
    assert ct.synthesize("switch:4", size="1KiB").transfers


@pytest.mark.parametrize(
    ("name", "collectives", "message"),
    [
        ("ring", ["all-reduce"], "there is a method of this name"),
        ("Star!", ["all-reduce"], "allowed: small letters"),
        (NAME, [], "one collective or more"),
        (NAME, ["all-reduc"], "unknown collective 'all-reduc'"),
    ],
)
def test_names_and_collectives_are_checked(name: str, collectives: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        ct.method(name, collectives=collectives)(star)


def test_a_parameter_without_a_default_is_refused() -> None:
    def needs(net: Any, *, width: int) -> Any:
        """Needs a width."""

    with pytest.raises(InputError, match="parameter width needs a default"):
        ct.method(NAME, collectives=["all-reduce"])(needs)
