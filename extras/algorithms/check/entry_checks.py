"""Tests of registered entries on small networks, one for each kind of entry. Each function yields the faults that it finds, a line
each."""

import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import certree.api as ct
from certree.extras.algorithms.make.python_methods import FaultyMethodError
from certree.models.common.errors import CertreeError, InputError, UnsupportedError
from certree.models.common.registry import Registry
from certree.models.schedule.collective import WITH_ONE_ROOT, CollectiveKind
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule
from certree.synth.method import Method

NETWORKS = ("ring:4", "ring:5", "mesh:2x3", "torus:3x3", "hypercube:3", "switch:4", "fattree:2x3")
SIZE = 64 << 10
Faults = Iterator[str]


def of_method(registry: Registry[Method], name: str) -> Faults:
    """Each collective on each network: a valid schedule, the same twice, that files and tables keep; or UnsupportedError. At least
    one schedule for each collective."""
    for kind in registry[name].collectives:
        made, reason = [], ""
        for network in NETWORKS:
            where = f"{kind} on {network}"
            try:
                found = [_synthesized(name, network, kind) for _ in range(2)]
            except CertreeError as error:
                reason = reason or str(error)
                if not isinstance(error, UnsupportedError) or isinstance(error, FaultyMethodError):
                    yield f"{where}: {error}"
                continue
            except Exception as error:
                yield f"{where}: raised {_words(error)}"
                continue
            made.append(network)
            if found[0].digest != found[1].digest:
                yield f"{where}: two calls gave two schedules"
            elif (kept := _kept(found[0])) is not None:
                yield f"{where}: {kept}"
        if not made:
            yield f"{kind}: no schedule on any of {', '.join(NETWORKS)}: {reason}"


def of_family(registry: Registry[Any], name: str) -> Faults:
    """Each example: a connected network, the same twice, whose file is read back, and which has bounds; wrong arguments are errors
    of one line."""
    if not registry.examples(name):
        yield "no example; allowed: names with arguments, behind the name of the family"
    for example in registry.examples(name):
        try:
            first, second = ct.topology(example), ct.topology(example)
            if first.digest != second.digest:
                yield f"{example}: two calls gave two networks"
            if first.name != example:
                yield f"{example}: its name is {first.name!r}"
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "network.json"
                ct.save(first, path)
                if ct.topology(path).digest != first.digest:
                    yield f"{example}: its file has another network"
            ct.bound(first)
        except CertreeError as error:
            yield f"{example}: {error}"
        except Exception as error:
            yield f"{example}: raised {_words(error)}"
    yield from _refuses(lambda: ct.topology(f"{name}:x?"), f"{name}:x?")


def of_importer(registry: Registry[Any], name: str) -> Faults:
    """Foreign bytes are not taken, damaged files are errors of one line, and what is written is read back."""
    format_ = registry[name]
    for start in (b"", b"\x00\xff" * 40, b'{"format": "certree-topology"}'):
        if _quietly(partial(format_.matches, start)) is not False:
            yield f"matches: takes {start[:30]!r}; allowed: what this format begins with"
    network = ct.topology("mesh:2x3")
    try:
        written = format_.written(network)
    except CertreeError:
        return  # it is only read
    except Exception as error:
        yield f"written: raised {_words(error)}"
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"network{format_.suffixes[0]}"
        path.write_bytes(written)
        if _quietly(lambda: ct.topology(path).digest) != network.digest:
            yield "a network that is written is not read back"
        path.write_bytes(written[: len(written) // 2])
        yield from _refuses(lambda: ct.topology(path), "half of a file")


def of_format(_: Registry[Any], name: str) -> Faults:
    """Tables of three schedules are read back and are valid."""
    for network, method in (("ring:4", "ring"), ("switch:4", "cps"), ("fattree:2x3", "halving-doubling")):
        try:
            schedule = ct.synthesize(network, method=method, size=SIZE)
            with tempfile.TemporaryDirectory() as parent:
                folder = Path(parent) / "tables"
                ct.export(schedule, name, folder)
                if not ct.verify(folder).valid:
                    yield f"tables of {method} on {network}: invalid when read back"
        except UnsupportedError:
            continue
        except CertreeError as error:
            yield f"tables of {method} on {network}: {error}"
        except Exception as error:
            yield f"tables of {method} on {network}: raised {_words(error)}"


def of_rule(registry: Registry[Any], name: str) -> Faults:
    """The faults of a rule, which accepts valid schedules and says what breaks it with an example."""
    rule = registry[name]
    yield from (f"no {field}" for field in ("meaning", "example") if not getattr(rule, field).strip())
    for network, method in (("ring:4", "ring"), ("switch:4", "cps"), ("mesh:2x3", "multitree")):
        try:
            verdict = ct.verify(ct.synthesize(network, method=method, size=SIZE))
        except Exception as error:
            yield f"{method} on {network}: raised {_words(error)}"
            continue
        if name in verdict.counts:
            yield f"{method} on {network}, which is valid, is refused"


def of_cost(registry: Registry[Any], name: str) -> Faults:
    """The faults of a cost model, which has a method `cost`."""
    if not callable(getattr(registry[name], "cost", None)):
        yield "no method cost(counts, message_bytes)"


CHECKS: dict[str, Callable[[Registry[Any], str], Faults]] = {
    "method": of_method,
    "topology family": of_family,
    "format of networks": of_importer,
    "table format": of_format,
    "rule": of_rule,
    "cost model": of_cost,
}


def _synthesized(name: str, network: str, kind: CollectiveKind) -> AnySchedule:
    return ct.synthesize(network, kind, root=0 if kind in WITH_ONE_ROOT else None, method=name, size=SIZE)


def _kept(schedule: AnySchedule) -> str | None:
    """The data that a file or tables lose; None where all is kept."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "schedule.json"
        ct.save(schedule, path)
        if ct.load(path).digest != schedule.digest:
            return "its file has another schedule"
        try:
            ct.export(schedule, "json", Path(folder) / "tables")
        except InputError:
            return None
        return None if ct.verify(Path(folder) / "tables").valid else "its tables are invalid"


def _refuses(call: Callable[[], object], what: str) -> Faults:
    """A fault unless the call raises an InputError of one line."""
    try:
        call()
    except InputError as error:
        if "\n" in str(error):
            yield f"{what}: an error of several lines"
    except Exception as error:
        yield f"{what}: raised {_words(error)}; allowed: InputError"
    else:
        yield f"{what}: taken; allowed: InputError"


def _quietly(call: Callable[[], object]) -> object:
    try:
        return call()
    except Exception as error:
        return error


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".partition("\n")[0]
