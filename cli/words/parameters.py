"""Arguments and options that commands share, and the texts they accept."""

import functools
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from certree.api.parsing import DEFAULT_MACHINE, DEFAULT_SIZE, solver
from certree.api.workers import CLUSTERS, Cluster, Workers
from certree.models.common.errors import InputError
from certree.models.common.files import check_writable, require_suffix
from certree.models.common.quantities import parse_duration, parse_size
from certree.models.demand import Demand, load_demand
from certree.models.machine.machine import MACHINES, load_machine
from certree.models.network.spec import parse_topology
from certree.models.relays import ALL, relayed
from certree.models.schedule.collective import ALLTOALLV, WITH_ONE_ROOT, CollectiveKind, parse_collective, parse_kind, parse_members
from certree.models.schedule.schedule_csv import CSV_ROUTINGS

T = TypeVar("T")
Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def completing(names: Callable[[], Iterable[str]]) -> Callable[[click.Context, click.Parameter, str], list[CompletionItem]]:
    """The shell completion of a value: the names that begin with what was typed, or files where none does."""

    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        found = [CompletionItem(name) for name in names() if name.startswith(incomplete)]
        return found or [CompletionItem(incomplete, type="file")]

    return complete


def method_names() -> list[str]:
    """The synthesis methods."""
    from certree.synth.method import load_methods

    return list(load_methods())


def _family_names() -> list[str]:
    from certree.models.network.families import load_families

    return list(load_families())


class Parsed(click.ParamType[T], Generic[T]):
    """A value read by one of the parsers of `certree.models`; the shell completes it by `names`."""

    def __init__(self, name: str, parse: Callable[[str], T], names: Callable[[], Iterable[str]] = tuple) -> None:
        self.name = name
        self._parse = parse
        self._complete = completing(names)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """The names that begin with what was typed, or files."""
        return self._complete(ctx, param, incomplete)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> T:
        """The parsed value; InputError as it stands, since it says what is wrong and what is allowed."""
        return self._parse(value) if isinstance(value, str) else value


class Count(click.IntRange):
    """A whole number, N in the help."""

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str | None:
        """The placeholder `N`."""
        return "N"


SIZE, DURATION = Parsed("size", parse_size), Parsed("time", parse_duration)
PICTURES = (".svg", ".png")  # the ends of names of pictures
TOPOLOGY, MACHINE = Parsed("topology", parse_topology, _family_names), Parsed("machine", load_machine, MACHINES.names)
KIND = Parsed("collective", parse_kind, lambda: map(str, CollectiveKind))
NAME = Parsed(
    "collective", lambda text: text if text == ALLTOALLV else parse_kind(text), lambda: [*map(str, CollectiveKind), ALLTOALLV]
)
COUNT, WHOLE = Count(min=1), Count(min=0)
MEMBERS = Parsed("members", parse_members)


def comma_list(parse: Callable[[str], T]) -> Parsed[list[T]]:
    """The type of values joined by commas."""
    return Parsed("list", lambda text: [parse(part.strip()) for part in text.split(",")])


def _methods(text: str) -> list[str]:
    """Methods joined by commas. A part that begins with NAME=VALUE goes on with the value before it:
    `ring,retime:of=ring,bidirectional=true:from=paced` are two methods."""
    found: list[str] = []
    for part in text.split(","):
        if found and "=" in part.partition(":")[0]:
            found[-1] += f",{part}"
        else:
            found.append(part.strip())
    return found


METHOD_LIST = Parsed("list", _methods)


def key_values(ctx: click.Context, param: click.Parameter, values: Sequence[str]) -> dict[str, str]:
    """`name=value` texts as a mapping."""
    options: dict[str, str] = {}
    for text in values:
        name, equals, value = text.partition("=")
        if not (name and equals):
            raise InputError(f"option {text!r}: expected name=value")
        if name in options:
            raise InputError(f"option {name!r} is given twice")
        options[name] = value
    return options


def option_json() -> Decorator:
    """The option --json."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON document to stdout, and nothing else.")


def option_output(what: str, *, required: bool = False) -> Decorator:
    """The options -o and --force."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        force = click.option("--force", is_flag=True, help="Overwrite existing output.")
        path = click.Path(path_type=Path)
        return click.option("-o", "--output", type=path, required=required, help=f"Where to write {what}.")(force(function))

    return decorate


def option_size(*, recorded: bool = False) -> Decorator:
    """The option --size; None by default for commands whose input records it."""
    help_text = "Message size, such as 64MiB"
    if recorded:
        return click.option("--size", type=SIZE, help=f"{help_text}; by default the recorded one, or {DEFAULT_SIZE} without one.")
    return click.option("--size", type=SIZE, default=DEFAULT_SIZE, show_default=True, help=f"{help_text}.")


def option_params(*, recorded: bool = False) -> Decorator:
    """The option --params; None by default for commands whose input records the machine."""
    help_text = "Machine parameters: a preset or a TOML file."
    if recorded:
        help_text = f"{help_text[:-1]}; by default the recorded ones, or {DEFAULT_MACHINE} without any."
        return click.option("--params", "machine", type=MACHINE, help=help_text)
    help_text = f"{help_text[:-1]}; by default that of boxes such as h100, or {DEFAULT_MACHINE}, with the speeds of the network."
    return click.option("--params", "machine", type=MACHINE, help=help_text)


def options_search() -> Decorator:
    """The options --effort, --time-limit and --seed of a search."""
    options = (
        click.option("--effort", type=COUNT, help="Deterministic search budget, 1 by default: same seed, same bytes."),
        click.option(
            "--time-limit", type=DURATION, help="Wall time, such as 60s; recorded, since results then depend on the computer."
        ),
        click.option("--seed", type=WHOLE, default=0, show_default=True),
    )
    return lambda function: functools.reduce(lambda inner, option: option(inner), reversed(options), function)


def _solver_names() -> tuple[str, ...]:
    from certree.synth.solvers.back_end import solver_names  # for completion alone: commands start without solvers

    return solver_names()


def option_solver(default: str | None = None) -> Decorator:
    """The option --solver of searches by formula."""
    help_text = "Back end of formulas: auto, cadical, cp-sat or z3. What it calls impossible counts only with a proof of CaDiCaL."
    return click.option("--solver", type=Parsed("solver", solver, _solver_names), default=default, metavar="NAME", help=help_text)


def options_workers(what: str, default: int | None = None) -> Decorator:
    """The options --workers (or --jobs), --scheduler and --cluster, which the command gets as one `workers: Workers`. `what` runs
    on them, by default on `default` processes, or one for each core."""
    number = f"{default}" if default else "one for each core"
    options = (
        click.option("--workers", "--jobs", type=COUNT, help=f"Processes, or jobs of --cluster, for {what}; {number} by default."),
        click.option("--scheduler", metavar="ADDRESS", help="Run on the workers of this Dask scheduler, such as tcp://HOST:8786."),
        click.option("--cluster", type=click.Choice(CLUSTERS), help="Run in --workers jobs of this batch system, through Dask."),
    )

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def with_workers(workers: int | None, scheduler: str | None, cluster: Cluster | None, **arguments: Any) -> Any:
            asked = Workers(workers or (None if scheduler or cluster else default), scheduler, cluster)
            return function(workers=asked, **arguments)

        return functools.reduce(lambda inner, option: option(inner), reversed(options), with_workers)

    return decorate


def option_without_routers() -> Decorator:
    """The option --without-routers."""
    help_text = "Ignore the delays of routers where messages meet: faster, not exact."
    return click.option("--without-routers", is_flag=True, help=help_text)


def _demand(path: Path, arguments: dict[str, Any]) -> Demand:
    """The demand in a file, for the network of a command; its granules are those of the machine. Where the command takes a
    size, this becomes that of the demand; InputError where one was typed."""
    topology, machine = arguments.get("topology"), arguments.get("machine") or load_machine(DEFAULT_MACHINE)
    if topology is None:
        raise InputError("--demand needs --topology: its lines are those of the endpoints of a network")
    demand = load_demand(path, topology, machine.flit_bytes)
    if "size" in arguments:
        if click.get_current_context().get_parameter_source("size") is ParameterSource.COMMANDLINE:
            raise InputError("--size does not go with --demand, which says how many bytes there are")
        arguments["size"] = demand.granules * machine.flit_bytes
    return demand


def option_collective(*, required: bool = True, members: bool = False, relay: bool = False, help_text: str = "") -> Decorator:
    """The options --collective, --root and, for commands that take collectives of version 2 of the schedule, --members and
    --demand, which the command gets as one `collective: Collective`; None without `required` and --collective. `relay`: --relay,
    too, which changes the `topology` that the command gets.

    Where the command also takes a `topology`, root and members must be endpoints of it.
    """
    known = f"One of {', '.join([*CollectiveKind, ALLTOALLV] if members else CollectiveKind)}."

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def with_collective(
            kind: str | None,
            root: int | None,
            named: tuple[int, ...] | None = None,
            demand: Path | None = None,
            through: str = ALL,
            **arguments: Any,
        ) -> Any:
            if kind is None and root is not None:
                raise InputError(f"--root {root} needs --collective: {', '.join(WITH_ONE_ROOT)}")
            if kind is None and named is not None:
                raise InputError(f"--members needs --collective: {', '.join(CollectiveKind)}")
            if kind in WITH_ONE_ROOT and root is None:
                raise InputError(f"{kind} needs --root: the id of an endpoint")
            if (kind == ALLTOALLV) != (demand is not None):
                raise InputError(
                    f"{ALLTOALLV} needs --demand: a CSV of bytes" if demand is None else f"--demand is for {ALLTOALLV}"
                )
            wanted = None if demand is None else _demand(demand, arguments)
            collective = None if kind is None else parse_collective(kind, root, named, wanted)
            if collective is not None and arguments.get("topology") is not None:
                arguments["topology"], collective = relayed(arguments["topology"], collective, through)
            return function(collective=collective, **arguments)

        default = str(CollectiveKind.ALL_REDUCE) if required else None
        root_help = f"The endpoint at the centre of {', '.join(WITH_ONE_ROOT)}."
        with_root = click.option("--root", type=WHOLE, metavar="NODE", help=root_help)(with_collective)
        if members:
            members_help = "The endpoints that take part, such as 0,2,4-7; by default all. Others may hold and forward data."
            with_root = click.option("--members", "named", type=MEMBERS, metavar="LIST", help=members_help)(with_root)
            demand_help = f"For {ALLTOALLV}: a CSV with the bytes from endpoint number i (line) to number j (cell)."
            with_root = click.option("--demand", type=click.Path(path_type=Path), metavar="FILE", help=demand_help)(with_root)
        if relay:
            relay_help = "The endpoints that pass on data of --members: all, members, or these and others, such as 1,3,8-11."
            with_root = click.option("--relay", "through", default=ALL, show_default=True, metavar="LIST", help=relay_help)(
                with_root
            )
        what = help_text or known
        kinds = NAME if members else KIND
        return click.option("--collective", "kind", type=kinds, default=default, show_default=required, help=what)(with_root)

    return decorate


def option_route() -> Decorator:
    """The option --route."""
    help_text = "Routes of CSV rows without a path between nodes that are not neighbours."
    return click.option("--route", type=click.Choice(CSV_ROUTINGS), help=help_text)


def argument_topology() -> Decorator:
    """The argument TOPOLOGY."""
    return click.argument("topology", type=TOPOLOGY)


def check_output(
    path: Path | None, *, force: bool, folder: bool = False, suffixes: Sequence[str] = (), what: str = "a file"
) -> None:
    """Refuse, before any work, an output that cannot be written, or whose name does not end in one of the `suffixes` (if any)."""
    if path is None:
        return
    if path.is_dir() and not folder:
        raise InputError(f"{path} is a folder; name a file")
    if suffixes:
        require_suffix(path, suffixes, what)
    check_writable(path, force=force)
