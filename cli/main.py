"""The program `certree`: finds and runs the command, turns exceptions into one line and an exit code."""

import errno
import importlib
import importlib.util
import os
import re
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import click

from certree.cli.words.terminal import emit_error, note
from certree.models.common.errors import CertreeError, OutputError, UndecidedError, internal_error, unknown_name
from certree.models.common.extras import extras

INTERNAL_ERROR, INTERRUPTED = 70, 130
_OUTPUT_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)

#: the groups of commands in `certree --help`, with their headings
GROUPS = {
    "make": "Make schedules",
    "check": "Check them",
    "run": "Run them",
    "hand over": "Hand them over",
    "study": "Study networks and methods",
}
#: the line of a command in the docstring of its module, with its group
_LINE = re.compile(r'^(?:""")?`certree ([a-z-]+)` \(([a-z ]+)\): (.+?)(?:""")?$', re.MULTILINE)
_HEAD = 400  # these lines are within the first characters of a module


@dataclass(frozen=True)
class Listed:
    """A command: the module that has it, its group and its line in `certree --help`."""

    module: str
    group: str
    line: str


@cache
def commands() -> dict[str, Listed]:
    """The commands by name.

    Command `a-b` is the object `a_b_command` of the module whose docstring begins "`certree a-b` (GROUP): LINE", in
    `certree.cli.commands` or in the folder `command` of an extra.
    The docstrings are read, not imported: solvers and networkx take longer to load than most commands take to run.
    """
    found: dict[str, Listed] = {}
    for package in ("certree.cli.commands", *(f"certree.extras.{name}.command" for name in extras())):
        if (spec := importlib.util.find_spec(package)) is None:
            continue
        for folder in map(Path, spec.submodule_search_locations or ()):
            for path in folder.rglob("*.py"):
                module = ".".join((package, *path.relative_to(folder).with_suffix("").parts))
                with path.open(encoding="utf-8") as file:
                    found |= {name: Listed(module, group, line) for name, group, line in _LINE.findall(file.read(_HEAD))}
    return dict(sorted(found.items()))


class _LazyGroup(click.Group):
    """A group whose commands are imported when they are asked for by name."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(commands())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in commands():
            return None
        module = importlib.import_module(commands()[cmd_name].module)
        command: click.Command = getattr(module, f"{cmd_name.replace('-', '_')}_command")
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and args[0] not in commands():
            raise click.UsageError(unknown_name("command", args[0], commands()))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for group, heading in GROUPS.items():
            with formatter.section(heading):
                formatter.write_dl([(name, listed.line) for name, listed in commands().items() if listed.group == group])


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="certree", prog_name="certree")
def certree() -> None:
    """Collective schedules for accelerator fabrics: synthesized, proved, exported, simulated.

    Exit codes: 0 valid, 1 invalid, 2 bad input, 3 undecided, 69 a needed tool is missing, 70 internal error, 74 the output cannot
    be written, 130 interrupted.
    """


def run(arguments: Sequence[str], program: click.Command = certree, name: str = "certree") -> int:
    """The exit code of one command line. This is the one place where errors become messages."""
    fail = partial(_fail, as_json="--json" in arguments)
    try:
        code: Any = program.main(args=list(arguments), prog_name=name, standalone_mode=False)
    except (click.Abort, KeyboardInterrupt):
        return fail("interrupted", INTERRUPTED, "Interrupted")
    except click.exceptions.NoArgsIsHelpError as error:
        note(error.format_message())
        return error.exit_code
    except click.ClickException as error:
        return fail(error.format_message(), error.exit_code, type(error).__name__)
    except CertreeError as error:
        return fail(str(error), error.exit_code, type(error).__name__)
    except MemoryError:
        if os.environ.get("CERTREE_DEBUG"):
            raise
        return fail("undecided: it takes more memory than there is", UndecidedError.exit_code, UndecidedError.__name__)
    except Exception as error:
        if isinstance(error, OSError) and error.errno in _OUTPUT_ERRORS:  # of click, which writes help by itself
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return fail(f"cannot write to standard output: {error.strerror}", OutputError.exit_code, "OutputError")
        return fail(f"internal error: {internal_error(error)}", INTERNAL_ERROR, "InternalError")
    return code if isinstance(code, int) else 0


def _fail(message: str, code: int, kind: str, *, as_json: bool) -> int:
    """Print the error in one line on stderr, and under --json as the one document on stdout."""
    line = " ".join(message.split())
    note(f"error: {line}")
    if as_json:
        with suppress(OutputError):  # it may be what went wrong
            emit_error(line, kind)
    return code


def main() -> None:
    """Entry point of the installed program. SIGTERM is handled as Ctrl-C: child processes end, temporary files are removed."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(run(sys.argv[1:]))
