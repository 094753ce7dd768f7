"""Runs `certree` as a user types it: inside this process, or as one of its own where signals and pipes matter."""

import contextlib
import io
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

import jsonschema

from certree.api.reports.schemas import document_schemas
from certree.cli.main import run

# With Ctrl-C as a terminal has it: what runs in the background of a script inherits that SIGINT is ignored.
CTRL_C = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
SCHEMAS = document_schemas()
PROGRAM = [sys.executable, "-c", f"{CTRL_C}; from certree.cli.main import main; main()"]


@dataclass(frozen=True)
class Outcome:
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        """The JSON document on stdout, which holds nothing else, as its schema says."""
        document = json.loads(self.out)
        jsonschema.Draft202012Validator(SCHEMAS[document["format"]]).validate(document)
        return document


def certree(*arguments, **program) -> Outcome:
    """One command, in this process; of another program than `certree`, where it is given as to `run`."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run([str(argument) for argument in arguments], **program)
    return Outcome(code, out.getvalue(), err.getvalue())


def json_of(*arguments, code=0) -> dict[str, Any]:
    """The JSON document of a command that ends with that code."""
    outcome = certree(*arguments, "--json")
    assert outcome.code == code, outcome
    return outcome.document


def start(*arguments, **options) -> subprocess.Popen:
    """One command as a process of its own, with pipes for both streams."""
    environment = os.environ | {"PYTHONUNBUFFERED": "1"}
    command = [*PROGRAM, *map(str, arguments)]
    return subprocess.Popen(
        command,
        stdout=options.pop("stdout", subprocess.PIPE),
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
        **options,
    )


def assert_bad_input(outcome: Outcome, reason: str, *, notes: int = 0) -> None:
    """Exit code 2, one line on stderr that gives the reason, after that many notes, nothing on stdout."""
    assert outcome.code == 2, outcome
    assert outcome.out == ""
    assert outcome.err.count("\n") == notes + 1
    assert outcome.err.splitlines()[notes].startswith("error: ")
    assert reason in outcome.err.splitlines()[notes]
