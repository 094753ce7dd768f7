"""`certree model-check` (check): Check the TLA+ models, or a schedule's tables, with TLC."""

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from certree.cli.words.parameters import completing, option_json, option_params, option_size
from certree.cli.words.terminal import note
from certree.extras.tla.check.model_file import listed
from certree.extras.tla.command.modes import FILE, FLOW, MODES, TRACED, all_of
from certree.extras.tla.command.outcomes import checked


class _WithDefault(click.Group):
    """A group whose sub-command `specs` need not be named."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        named = args and args[0] in (*self.commands, *ctx.help_option_names)
        return super().parse_args(ctx, args if named else ["specs", *args])


@click.group("model-check", cls=_WithDefault, commands=MODES, subcommand_metavar="[COMMAND] [ARGS]...")
def model_check_command() -> None:
    """Check the TLA+ models, or a schedule's tables, with TLC.

    Arguments without a command, such as --full and --json, are those of specs, the default.

    Exit code 0 when all end as expected; 1 when one does not; 3 when a check did not finish.
    """


def _of_the_checkout(command: str, names: tuple[str, ...] = ()) -> int:
    """Run a program of `tools/`, which is not in the wheel."""
    root = Path(__file__).parents[3]
    if not (root / "tools" / "specs").is_dir():
        raise click.UsageError(f"--{command} is only in a checkout of certree: python -m tools.specs {command}")
    if str(root) not in sys.path:
        sys.path.insert(0, str(root))
    programs: click.Group = import_module("tools.specs.__main__").specs
    return int(programs.main([command, *names], standalone_mode=False) or 0)


_NAMES = click.Argument(["names"], nargs=-1)
_KILLS = click.Command("kills", callback=lambda: _of_the_checkout("kills"))
_EDITS = click.Command("edits", params=[_NAMES], callback=lambda names: _of_the_checkout("edits", names))
_BY_NAME = model_check_command.commands
#: options that chose what is a command now, in the order in which they do
_CHOSE = {
    "name": _BY_NAME["config"],
    "kills": _KILLS,
    "edits": _EDITS,
    "symbolic": _BY_NAME["symbolic"],
    "trace": _BY_NAME["trace"],
    "routers": _BY_NAME["routers"],
    "schedule": _BY_NAME["schedule"],
}
_OLD: tuple[Any, ...] = (
    *(click.option(f"--{flag}", is_flag=True) for flag in ("kills", "edits", "symbolic", "routers", "force")),
    *(click.option(f"--{file}", type=FILE) for file in ("schedule", "trace", "picture")),
    click.option("--write-cfg", "name"),
    click.option("-o", "--output", type=FILE),
    *(option_size(recorded=True), option_params(recorded=True), FLOW, *TRACED),
)


@model_check_command.command("specs")
@click.argument(
    "names",
    nargs=-1,
    metavar="[NAME]...",
    shell_complete=completing(lambda: [*_BY_NAME, *listed().models, *listed().tables]),
)
@click.option("--full", is_flag=True, help="The larger models, too.")
@option_json()
@all_of(*_OLD)
@click.pass_context
def specs_mode(ctx: click.Context, /, names: tuple[str, ...], full: bool, as_json: bool, **old: Any) -> int:
    """Check TLA+ models and listed tables.

    By default all small ones are checked. A single name also prints the counterexample of a model that must fail.
    """
    given = {name: ctx.params[name] for name in ctx.params if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE}
    if not given.keys() & old.keys():
        return checked(names=names, full=full, as_json=as_json)
    return _moved(ctx, given)


for _option in specs_mode.params:
    if isinstance(_option, click.Option) and _option.name not in ("full", "as_json"):
        _option.hidden = True


def _moved(ctx: click.Context, given: dict[str, Any]) -> int:
    """Run the command that a deprecated option has become."""
    words = {param.name: param.opts[0] for param in ctx.command.params} | {"names": "NAME"}
    option = next((option for option in _CHOSE if option in given), None)
    command = ctx.command if option is None else _CHOSE[option]
    takes = {param.name for param in command.params} if option else {"names", "full", "as_json"}
    wrong = [words[name] for name in given if name not in takes and name != option]
    if option is None or wrong:
        raise click.UsageError(f"{command.name} takes no {', '.join(wrong)}; see certree model-check --help")
    new = f"certree model-check {command.name}" if command.name in _BY_NAME else f"python -m tools.specs {command.name}"
    note(f"warning: model-check {words[option]} is deprecated; use {new}")
    return int(ctx.invoke(command, **{name: value for name, value in given.items() if name in takes}) or 0)
