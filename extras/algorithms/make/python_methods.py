"""Python functions as synthesis methods: in comparisons, sweeps, exports and reports like those that certree has."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from certree.models.common.errors import CertreeError, InputError, UnsupportedError
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.synth.method import METHODS, Option, Options, Request, choice, flag, load_methods, require_shape, whole_number
from certree.synth.method import method as kernel_method


class FaultyMethodError(UnsupportedError):
    """A function that is a method and does not do what one must: it raised, or returned something else than asked for. `auto` and
    comparisons go on without it."""


_Function = TypeVar("_Function", bound=Callable[..., Schedule])
#: what a function may ask for by the names of its parameters
_OF_REQUEST: Mapping[str, Callable[[Request], Any]] = {
    "collective": lambda request: request.collective,
    "root": lambda request: request.collective.root,
    "members": lambda request: request.members.tolist(),
    "chunks": lambda request: request.chunks,
    "steps": lambda request: request.steps,
    "size": lambda request: request.message_bytes,
    "machine": lambda request: request.machine,
    "seed": lambda request: request.seed,
}
_LARGEST = 1 << 31


def method(name: str, collectives: Sequence[str], **fields: Any) -> Callable[[_Function], _Function]:
    """Register the decorated function as a method, under a name that all functions and commands of this process then know.

    Those of every process know it where a plug-in has the function (docs/how-to/own-algorithm.md).

    Parameters
    ----------
    name
        Small letters, digits and hyphens. The name of a method that certree or another module has is refused; a function of the
        same module replaces the one before it, as when a cell of a notebook is run again.
    collectives
        Names such as "all-reduce"; others are refused before the function is called.
    fields
        Those of `certree.synth.method.Method`, such as `takes_members=True` where the function makes schedules of some endpoints.

    Returns
    -------
    A decorator. The function is called by keyword: its first parameter is the network, a Topology. Others get what their names say,
    where they are `collective`, `root`, `members`, `chunks`, `steps` (None where the method may choose), `size` (bytes), `machine`
    or `seed`. Each other parameter is an option, and needs a default: true or false, a whole number, a text, or a tuple of texts of
    which the first is the default. `**options` gets all that the function does not name. It returns a valid schedule.

    Raises
    ------
    InputError
        For a name that is taken, an unknown collective, or a parameter without a default.

    Examples
    --------
    >>> import certree.api as ct
    >>> @ct.method("star", collectives=["broadcast"])
    ... def star(net, *, root, **options):
    ...     "The root sends to all other endpoints at once."
    ...     b = ct.Builder(net, "broadcast", root=root)
    ...     b.copy(chunk=0, src=root, dst=[node for node in b.ranks if node != root], step=0)
    ...     return b.schedule()
    >>> ct.synthesize("switch:4", "broadcast", method="star", root=0)
    <Schedule broadcast from node 0 on switch:4: chunks 1, steps 1, repeats 1, transfers 3>
    """
    kinds = [_kind(name, one) for one in collectives]
    if not kinds or not name.replace("-", "").isalnum() or name != name.lower() or not name.isascii():
        raise InputError(
            f"method {name!r} for {list(collectives)}; allowed: small letters, digits, hyphens; one collective or more"
        )

    def register(function: _Function) -> _Function:
        load_methods()
        file, module = function.__code__.co_filename, function.__module__
        described = f"{inspect.getdoc(function) or 'An algorithm written in Python.'}\n\nFrom {Path(file).name}."
        if name in METHODS and getattr(METHODS[name].make, "written_in", None) != module:
            raise InputError(f"method {name!r}, of {Path(file).name}: there is a method of this name; allowed: another name")

        def make(request: Request, options: Options) -> Schedule:
            return _called(name, function, request, options)

        make.__doc__, make.written_in = described, module  # type: ignore[attr-defined]
        METHODS.discard(name)
        kernel_method(name, kinds, options=_options(name, function), **{"order": 90, **fields})(make)
        return function

    return register


def _kind(name: str, collective: str) -> CollectiveKind:
    try:
        return CollectiveKind(collective)
    except ValueError:
        raise InputError(f"method {name!r}: unknown collective {collective!r}; known: {', '.join(CollectiveKind)}") from None


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    return list(inspect.signature(function).parameters.values())


def _options(name: str, function: Callable[..., Any]) -> dict[str, Option]:
    """The options of a function: its parameters that are neither the network nor part of a request."""
    found = {}
    for parameter in _parameters(function)[1:]:
        if parameter.name in _OF_REQUEST or parameter.kind is parameter.VAR_KEYWORD:
            continue
        found[parameter.name] = _option(name, parameter)
    return found


def _option(name: str, parameter: inspect.Parameter) -> Option:
    default = parameter.default
    if isinstance(default, bool):
        return flag(default)
    if isinstance(default, int):
        return whole_number(default, 0, _LARGEST)
    if isinstance(default, str):
        return Option(str, default, "a text")
    if isinstance(default, tuple) and default and all(isinstance(word, str) for word in default):
        return choice(*default)
    raise InputError(
        f"method {name!r}: parameter {parameter.name} needs a default: true or false, a whole number, a text, or a tuple of texts; "
        f"names that need none: {', '.join(_OF_REQUEST)}"
    )


def _called(name: str, function: Callable[..., Schedule], request: Request, options: Options) -> Schedule:
    """The schedule that the function makes for a request. Its own UnsupportedError is passed on; FaultyMethodError says what else
    it did."""
    first, *others = _parameters(function)
    values: dict[str, Any] = {key: read(request) for key, read in _OF_REQUEST.items()} | options
    takes_all = any(parameter.kind is parameter.VAR_KEYWORD for parameter in others)
    taken = values if takes_all else {parameter.name: values[parameter.name] for parameter in others}
    try:
        made = function(**{first.name: request.topology}, **taken)
    except UnsupportedError as error:
        raise UnsupportedError(f"{name}: {error}") from error
    except CertreeError as error:
        raise FaultyMethodError(f"{name}: {error}") from error
    except Exception as error:
        raise FaultyMethodError(f"{name}: {_place(function, error)} raised {type(error).__name__}: {error}") from error
    if not isinstance(made, Schedule):
        raise FaultyMethodError(f"{name}: {function.__name__} returned {type(made).__name__}; allowed: a Schedule")
    if made.topology.digest != request.topology.digest or made.collective != request.collective:
        raise FaultyMethodError(
            f"{name}: {function.__name__} returned {made.collective.words} on {made.topology.name}; asked for was "
            f"{request.collective.words} on {request.topology.name}"
        )
    require_shape(request, name, made.chunks, made.steps)
    return replace(made, provenance=request.provenance(name, options))


def _place(function: Callable[..., Any], error: Exception) -> str:
    """`FILE:LINE` in the file of the function at which an error was raised, the innermost one."""
    file, place, trace = function.__code__.co_filename, function.__name__, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == file:
            place = f"{Path(file).name}:{trace.tb_lineno}"
        trace = trace.tb_next
    return place
