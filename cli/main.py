"""The program `certree`: finds the command, runs it, turns what was raised into one line and an exit code."""

import importlib
import os
import signal
import sys
from collections.abc import Sequence
from typing import Any

import click

from certree.cli.words.terminal import note

INTERNAL_ERROR, INTERRUPTED = 70, 130

#: name -> its line in `certree --help`. Command `a-b` is the object `a_b` of the module named here, which is imported only when
#: it is called for: solvers and networkx take longer to load than most commands take to run.
COMMANDS = {
    "aggregate": ("runs.aggregate", "All-reduce in the switches of a network, with windows and loss."),
    "bound": ("schedules.bound", "Lower bounds on any schedule for a network, each with its witness."),
    "certify": ("schedules.certify", "Add bounds and certificate to a schedule."),
    "compare": ("schedules.compare", "Methods beside each other, size by size."),
    "cost": ("costs.cost", "What schedules take by a cost model, term by term."),
    "endpoints": ("runs.endpoints", "A collective by the endpoints of a network: buses, memory, ACE's engines."),
    "export": ("schedules.tables", "Write a schedule as tables for network interfaces."),
    "fit": ("costs.fit", "GenModel parameters from measured times."),
    "frontier": ("schedules.frontier", "The exact frontier of steps and rounds of a small network, with proofs."),
    "gallery": ("papers.gallery", "A worked example of each paper, with pictures."),
    "import": ("schedules.tables", "Read tables back as a schedule."),
    "improve": ("schedules.improve", "A faster schedule from any valid one."),
    "inject": ("runs.inject", "Packets through a network of routers: when each arrives."),
    "list": ("listings.listing", "Methods, machine presets, table formats, topologies, collectives."),
    "measure": ("costs.measure", "Benchmarks on this computer, for fit."),
    "model-check": ("runs.model_check", "Check the TLA+ models, or a schedule's tables, with TLC."),
    "reproduce": ("papers.reproduce", "A figure of a paper: ours beside what its text states."),
    "simulate": ("runs.simulate", "Run tables, or a schedule that has none, cycle by cycle."),
    "synthesize": ("schedules.synthesize", "Make a schedule, with its certificate."),
    "topology": ("listings.topology", "Show, list and convert networks."),
    "verify": ("schedules.verify", "Judge a schedule, a CSV, a tables directory or a frontier."),
}


class _LazyGroup(click.Group):
    """A group whose commands are imported when they are asked for by name."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"certree.cli.commands.{COMMANDS[cmd_name][0]}")
        command: click.Command = getattr(module, f"{cmd_name.replace('-', '_')}_command")
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and args[0] not in COMMANDS:
            raise click.UsageError(f"unknown command {args[0]!r}; known: {', '.join(COMMANDS)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="certree", prog_name="certree")
def certree() -> None:
    """Collective schedules for accelerator fabrics: synthesized, proved, exported, simulated.

    Exit codes: 0 holds, 1 refuted, 2 bad input, 3 undecided, 69 a needed tool is missing, 70 internal error, 130 interrupted.
    """


def run(arguments: Sequence[str]) -> int:
    """The exit code of one command line. This is the one place where errors become messages."""
    from certree.models.common.errors import CertreeError

    try:
        code: Any = certree.main(args=list(arguments), prog_name="certree", standalone_mode=False)
    except (click.Abort, KeyboardInterrupt):
        return _fail("interrupted", INTERRUPTED)
    except click.exceptions.NoArgsIsHelpError as error:
        note(error.format_message())
        return error.exit_code
    except click.ClickException as error:
        return _fail(error.format_message(), error.exit_code)
    except CertreeError as error:
        return _fail(str(error), error.exit_code)
    except Exception as error:
        if os.environ.get("CERTREE_DEBUG"):
            raise
        hint = "this is a fault of certree; CERTREE_DEBUG=1 shows where"
        return _fail(f"internal error: {type(error).__name__}: {error} ({hint})", INTERNAL_ERROR)
    return code if isinstance(code, int) else 0


def _fail(message: str, code: int) -> int:
    note("error: " + " ".join(message.split()))
    return code


def main() -> None:
    """Entry point of the installed program. To be terminated is to be interrupted: what was started ends, temporary files go."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(run(sys.argv[1:]))
