"""Runs of TLC on one model, and its parsed output."""

import os
import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from certree.extras.tla.check.tlc_jar import class_archive, find_java, tlc_jar
from certree.extras.tla.check.tlc_values import parse_value
from certree.models.common.errors import CertreeError
from certree.models.common.fields import FromZero


class Result(StrEnum):
    """The result of a model check."""

    SUCCESS = "success"
    SAFETY = "safety"
    LIVENESS = "liveness"
    DEADLOCK = "deadlock"
    UNKNOWN = "unknown"  # stopped at the time limit: neither success nor failure


class TlcError(CertreeError):
    """TLC gave no answer: the specification does not parse, an expression cannot be evaluated, or TLC crashed.

    `output` is all that it said, where it ran; `printed` what the model printed.
    """

    def __init__(self, message: str, output: str = "") -> None:
        super().__init__(message)
        self.output = output
        self.printed = frozenset(_PRINTED.findall(output))


class TlcStoppedError(CertreeError):
    """TLC was stopped by `end_runs`."""


# The meaning of TLC's exit codes; every other code is a TlcError.
EXIT_CODES = {0: Result.SUCCESS, 11: Result.DEADLOCK, 12: Result.SAFETY, 13: Result.LIVENESS}

# A stack for tables with hundreds of iterations, one thread to collect garbage and, except for long runs, no second compiler, which
# would take longer than a small model.
_JVM, _JVM_SHORT = ("-Xss64m", "-XX:+UseSerialGC"), ("-XX:TieredStopAtLevel=1",)

# Messages of `-tool` output, by number (tlc2.output.EC).
_INVARIANT_INITIAL, _INVARIANT, _ACTION_PROPERTY, _PROPERTY_INITIAL = 2107, 2110, 2112, 2108
_STATE, _STATS, _SIMULATION_STATS, _PROGRESS = 2217, 2199, 2209, 2200
_NAMED = (_INVARIANT_INITIAL, _INVARIANT, _ACTION_PROPERTY, _PROPERTY_INITIAL)
_MESSAGE = re.compile(r"@!@!@STARTMSG (\d+):(\d) @!@!@\n(.*?)\n?@!@!@ENDMSG \1 @!@!@", re.DOTALL)
_VARIABLE = re.compile(r"^(?:/\\ )?(\w+) = ", re.MULTILINE)

# The running TLC processes of this process, for `end_runs`, and those that it stopped.
_at_work: set[subprocess.Popen[str]] = set()
_stopped: set[subprocess.Popen[str]] = set()

_PRINTED = re.compile(r'^"(.*)"$', re.MULTILINE)
_LEGEND = re.compile(r'^"legend begins"\n(.*?)^"legend ends"', re.MULTILINE | re.DOTALL)


class State(Mapping[str, Any]):
    """One state of a counterexample: variables by name, parsed on first access, since states can be large."""

    def __init__(self, body: str) -> None:
        """`body`: lines `/\\ name = value`, each value up to the next such line."""
        starts = list(_VARIABLE.finditer(body))
        ends = [match.start() for match in starts[1:]] + [len(body)]
        self._texts = {match[1]: body[match.end() : end] for match, end in zip(starts, ends, strict=True)}
        self._values: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._values:
            self._values[name] = parse_value(self._texts[name])
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)


@dataclass(frozen=True)
class Simulation:
    """Random runs instead of all behaviours: their number, their greatest length in states, and the seed."""

    runs: int
    depth: int
    seed: FromZero


@dataclass(frozen=True)
class TlcRun:
    """The output of TLC: `broken` names the invariant or property, `trace` holds the states of the counterexample.

    `distinct_states` is None after a simulation, which keeps no record of them. Of a run that the time limit ended the numbers are
    those that TLC printed last, once a minute; 0 before the first.
    """

    result: Result
    broken: str
    distinct_states: int | None
    total_states: int
    seconds: float
    trace: tuple[State, ...]
    legend: Mapping[str, Any] | None = None  # constants that the model printed (specs/CheckNILockstep.tla)
    printed: frozenset[str] = frozenset()  # the strings that the model printed


def run_tlc(
    module: Path,
    config: Path,
    library: Path,
    *,
    time_limit: float,
    simulation: Simulation | None = None,
    heap: str = "1g",
    lasting: bool = False,
) -> TlcRun:
    """Check `module` under `config`; modules it extends are searched next to it and in `library`. `lasting`: the run takes minutes.

    One worker, so that the state counts of a failing model are the same every time. No file is written next to the model.
    Raises ToolMissingError without Java or TLC, TlcError when TLC fails to give an answer, TlcStoppedError after `end_runs`.
    """
    java, jar = find_java(), tlc_jar()
    archive = class_archive(java)
    with tempfile.TemporaryDirectory(prefix="certree-tlc-") as scratch:
        written = archive and archive.with_name(Path(scratch).name)  # each run its own: several may be the first
        command = [
            java,
            f"-Xmx{heap}",
            *_JVM,
            *(() if lasting else _JVM_SHORT),
            *_classes(archive, written),
            f"-DTLA-Library={library}",
            f"-Djava.io.tmpdir={scratch}",
        ]
        command += ["-cp", str(jar), "tlc2.TLC", "-tool", "-workers", "1", "-metadir", scratch, "-config", str(config)]
        if simulation is None:
            command += ["-lncheck", "final", "-fp", "0"]
        else:
            command += ["-simulate", f"num={simulation.runs}", "-depth", str(simulation.depth), "-seed", str(simulation.seed)]
        started = time.monotonic()
        code, output = _run([*command, str(module)], scratch, time_limit)
        if archive and written and written.exists():
            os.replace(written, archive)
        return _read(code, output, time.monotonic() - started, module.stem)


def _classes(archive: Path | None, written: Path | None) -> list[str]:
    """Options of Java for an archive of loaded classes: read it, or write one when the run ends where there is none yet."""
    if archive is None:
        return []
    used = f"-XX:SharedArchiveFile={archive}" if archive.exists() else f"-XX:ArchiveClassesAtExit={written}"
    return ["-Xlog:disable", used]


def lines_at_fault(module: Path, library: Path, time_limit: float) -> list[int]:
    """The lines of a module that do not parse or have no meaning, as SANY, the parser of TLC, tells: not always all at once."""
    with tempfile.TemporaryDirectory(prefix="certree-sany-") as scratch:
        command = [find_java(), *_JVM, *_JVM_SHORT, f"-DTLA-Library={library}", "-cp", str(tlc_jar()), "tla2sany.SANY", str(module)]
        code, output = _run(command, scratch, time_limit)
    told = re.search(r"\*\*\*Parse Error|\*\*\* Errors|\*\*\* Abort", output)
    if told is None and code == 0:
        return []
    about = output[told.start() :] if told else ""
    found = [int(line) for line in re.findall(rf"line (\d+), col(?:umn)? \d+(?! of module (?!{module.stem}\b))", about)]
    if not found:
        raise TlcError(f"SANY on {module.stem}: {' '.join(output[-400:].split())}")
    return found


def _run(command: Sequence[str], folder: str, time_limit: float) -> tuple[int | None, str]:
    """Exit code and output; the code is None when the time limit ended the run."""
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    _at_work.add(process)
    try:
        output, _ = process.communicate(timeout=time_limit)
    except subprocess.TimeoutExpired:
        process.kill()
        return None, process.communicate()[0]
    except BaseException:
        process.kill()
        process.wait()
        raise
    finally:
        _at_work.discard(process)
    if process in _stopped:
        _stopped.discard(process)
        raise TlcStoppedError("TLC was stopped")
    return process.returncode, output


def end_runs() -> None:
    """Kill the running TLC processes, whose runs end with TlcStoppedError: an interrupt reaches only the main thread."""
    for process in tuple(_at_work):
        _stopped.add(process)
        process.kill()


def _read(code: int | None, output: str, seconds: float, name: str) -> TlcRun:
    """The result given by TLC's exit code and messages."""
    messages = [(int(number), int(severity), body) for number, severity, body in _MESSAGE.findall(output)]
    if code is None:
        distinct, total = _counts(messages) or (None, 0)
        return TlcRun(Result.UNKNOWN, "", distinct, total, seconds, (), None, frozenset(_PRINTED.findall(output)))
    if code not in EXIT_CODES:
        text = f"TLC ended with code {_code_text(code)} on {name}: {_reason(messages, output)}"
        raise TlcError(text, output)
    result, broken = EXIT_CODES[code], ""
    for number, _, body in messages:
        if number in _NAMED:
            # TLC reports a violated step property as a liveness failure; a forbidden step is a violation of safety.
            result, broken = Result.SAFETY, _name_of(body)
    distinct, total = _counts(messages) or (1, 1)  # violated in the initial state, for which TLC prints no statistics
    trace = _trace(messages)
    printed = frozenset(_PRINTED.findall(output))
    return TlcRun(result, broken, distinct, total, seconds, trace, _legend(output) if trace else None, printed)


def _name_of(body: str) -> str:
    """The property that a message names."""
    name = body.split(" is violated", maxsplit=1)[0]
    return name.removeprefix("Invariant ").removeprefix("Action property ").removeprefix("Property ")


def _code_text(code: int) -> str:
    return f"{code} ({signal.Signals(-code).name})" if code < 0 else str(code)


def _reason(messages: list[tuple[int, int, str]], output: str) -> str:
    """The first error of the messages (severity 1), otherwise the last line of the output, on one line."""
    errors = [body for _, severity, body in messages if severity == 1]
    semantic = re.search(r"\*\*\* Errors.*", output, re.DOTALL)
    text = semantic[0][:400] if semantic else errors[0] if errors else output[-400:]
    return " ".join(text.split()) or "no message"


def _counts(messages: list[tuple[int, int, str]]) -> tuple[int | None, int] | None:
    """Distinct states (None in a simulation) and states generated, as TLC printed last: at the end, and once a minute before. None
    where it printed none."""
    for number, _, body in reversed(messages):
        found = [int(digits.replace(",", "")) for digits in re.findall(r"([\d,]+) (?:distinct )?states", body)]
        if number in (_STATS, _PROGRESS):
            return found[1], found[0]
        if number == _SIMULATION_STATS:
            return None, found[0]
    return None


def _trace(messages: list[tuple[int, int, str]]) -> tuple[State, ...]:
    """The states of the counterexample, first to last."""
    return tuple(State(body) for number, _, body in messages if number in (_STATE, _INVARIANT_INITIAL, _PROPERTY_INITIAL))


def _legend(output: str) -> Mapping[str, Any] | None:
    found = _LEGEND.search(output)
    return parse_value(found[1]) if found else None
