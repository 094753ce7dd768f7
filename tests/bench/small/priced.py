"""What method auto costs next to the method that it picks, and whether another one is faster, on networks of any size.

`python -m tests.bench.small.priced [--rivals] [--collectives all-reduce,...] [--sizes 64KiB,...] [NETWORK ...]` prints a Markdown
table, `--smoke` alone a short one: the method picked, cycles over the time bound, user seconds of `auto` and of the picked method
alone, (auto - 1 s) / alone, the peak of memory, and how many candidates were left out by price. --rivals adds the fastest of these,
run by name for at most MOST_SECONDS each, with its cycles over those of the picked one. Each cell runs in a process of its own, one
after the other.

`--growth [--collectives all-reduce] [--sizes 64MiB] NETWORK ...` prints seconds and megabytes of `auto` alone, and the exponents of
their growth from the first network to the last: for a family in ascending order.
"""

import math
import multiprocessing
import resource
import signal
import sys
from argparse import ArgumentParser, ArgumentTypeError, RawDescriptionHelpFormatter
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NoReturn

from certree.models.common.errors import InputError, RejectedError, UndecidedError, UnsupportedError
from certree.models.common.quantities import parse_size
from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import WITH_ONE_ROOT, CollectiveKind
from certree.synth.bounds.quick import quick_time_bound
from certree.synth.method import METHODS, Request, load_methods
from certree.synth.methods import auto
from tests.synth.execution import ask

SMOKE = ("torus:4x4",)
NETWORKS = ("torus:8x8x8", "fattree:8x16", "dragonfly:9x4x2@2", "h100:16", "h100:64", "hyperx:4x4@8", "slimfly:5@4", "torus:64x64")
COLLECTIVES = ("all-reduce", "all-gather", "all-to-all", "broadcast")
SIZES = (1 << 10, 1 << 16, 1 << 20, 1 << 26)
MOST_SECONDS = 20.0  # of the processor, for a rival
CELL_SECONDS = 120  # of the processor, for a cell
COLUMNS = (
    "network", "collective", "bytes", "N", "picked", "cycles", "/ bound", "auto s", "alone s", "(auto - 1) / alone", "MB",
    "left out", "rival",
)  # fmt: skip
#: method, options
_Named = tuple[str, dict[str, str]]


def spent() -> float:
    """User seconds of this process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime


class OutOfTime(BaseException):
    """A method that used up its time. No method catches it, as it would an error of one of its candidates."""


def out_of_time(*_: object) -> None:
    """Raise OutOfTime: what a timer calls."""
    raise OutOfTime


def timed_within(seconds: float, request: Request, named: _Named) -> tuple[int | None, bool]:
    """Cycles of a method by name, None without a schedule, and whether it ended within some seconds of the processor. What comes
    behind them does not count, also where native code kept the method from being stopped."""
    signal.signal(signal.SIGVTALRM, out_of_time)
    start = spent()
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
        cycles, _ = timed(request, named)
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    except OutOfTime:
        return None, False
    return (cycles, True) if spent() - start <= seconds else (None, False)


def timed(request: Request, named: _Named) -> tuple[int | None, float]:
    """Cycles of a method by name, None without a schedule, and user seconds."""
    start = spent()
    try:
        made = METHODS[named[0]](replace(request, options=named[1]))
        auto.require_valid(made)
        request.require_runnable(made)
        return request.cycles(made), spent() - start
    except (UnsupportedError, UndecidedError, RejectedError):
        return None, spent() - start


def label_parts(label: str) -> _Named:
    """Method and options of a label of `auto`."""
    name, *options = label.split(":", maxsplit=3) if label.startswith(auto.PACED) else label.split(":")
    return name, dict(option.split("=", 1) for option in options)


def cell(network: str, collective: str, size: int, rivals: bool) -> dict[str, Any]:
    """One row."""
    load_methods()
    request = ask(network, collective, size, root=0 if collective in WITH_ONE_ROOT else None)
    start = spent()
    made = METHODS["auto"](request)
    row: dict[str, Any] = {"seconds": spent() - start, "endpoints": len(request.members)}
    row["megabytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    told, cycles, bound = made.provenance["auto"], request.cycles(made), quick_time_bound(request)
    picked = told["why"].split(": fewest cycles")[0]
    row |= {"picked": picked, "cycles": cycles, "ratio": cycles / bound, "left_out": len(told.get("beyond_budget", {}))}
    row["alone"] = timed(ask(network, collective, size, root=request.collective.root), label_parts(picked))[1]
    row["best"] = None
    if rivals:
        for label in told.get("beyond_budget", {}):
            again = ask(network, collective, size, root=request.collective.root)
            found, _ = timed_within(MOST_SECONDS, again, label_parts(label))
            if found is not None and (row["best"] is None or found < row["best"][0]):
                row["best"] = found, label
    return row


def _into(queue: Any, function: Callable[..., dict[str, Any]], arguments: tuple[Any, ...]) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (CELL_SECONDS, CELL_SECONDS + 1))
    try:
        queue.put(function(*arguments))
    except (UnsupportedError, UndecidedError) as error:
        queue.put({"error": str(error)[:80]})


def in_own_process(function: Callable[..., dict[str, Any]], *arguments: Any) -> dict[str, Any]:
    """What the function returns in a process of its own, or the `error`, which also says that it took more than CELL_SECONDS."""
    queue: Any = multiprocessing.Queue()
    worker = multiprocessing.Process(target=_into, args=(queue, function, arguments))
    worker.start()
    while queue.empty() and worker.is_alive():
        worker.join(0.1)
    found = {"error": _ended(worker.exitcode)} if queue.empty() else queue.get()
    worker.kill()
    worker.join()
    return dict(found)


def _ended(code: int | None) -> str:
    """Why a process ended without an answer: its limit of time, which kills it, or an error of its own."""
    if code in (-signal.SIGXCPU, -signal.SIGKILL):
        return f"no answer within {CELL_SECONDS} s"
    return f"failed without an answer, exit code {code}"


def rows(
    networks: tuple[str, ...], *, rivals: bool, sizes: tuple[int, ...] = SIZES, collectives: tuple[str, ...] = COLLECTIVES
) -> None:
    """Print the table, row by row."""
    print("|", *(f"{column} |" for column in COLUMNS))
    print("|---" * len(COLUMNS) + "|")
    for network in networks:
        for collective in collectives:
            for size in sizes:
                row = in_own_process(cell, network, collective, size, rivals)
                print(f"| `{network}` | {collective} | {size} | " + _words(row), flush=True)


def growth(networks: tuple[str, ...], collective: str, size: int) -> None:
    """Print seconds and megabytes of `auto` by number of endpoints, and the exponents of both between the first and the last."""
    print("| network | N | picked | / bound | auto s | MB |")
    print("|---" * 6 + "|")
    done = []
    for network in networks:
        row = in_own_process(cell, network, collective, size, False)
        if "error" in row:
            print(f"| `{network}` | {row['error']} |", flush=True)
            continue
        done.append(row)
        words = row["endpoints"], row["picked"], f"{row['ratio']:.3f}", f"{row['seconds']:.1f}", row["megabytes"]
        print(f"| `{network}` | {' | '.join(map(str, words))} |", flush=True)
    if len(done) > 1 and done[0]["endpoints"] < done[-1]["endpoints"]:
        times = math.log(done[-1]["endpoints"] / done[0]["endpoints"])
        found = [math.log(done[-1][name] / max(done[0][name], 0.1)) / times for name in ("seconds", "megabytes")]
        print(
            f"Exponents from {done[0]['endpoints']} to {done[-1]['endpoints']} endpoints: seconds {found[0]:.2f}, MB {found[1]:.2f}"
        )


def _words(row: dict[str, Any]) -> str:
    if "error" in row:
        return f"{row['error']} |"
    times = (row["seconds"] - 1) / row["alone"] if row["alone"] > 0 else 0
    rival = "" if row["best"] is None else f"{row['best'][1]} {row['best'][0] / row['cycles']:.3f}"
    cells = (
        row["endpoints"], row["picked"], row["cycles"], f"{row['ratio']:.3f}", f"{row['seconds']:.1f}", f"{row['alone']:.1f}",
        f"{max(0, times):.1f}", row["megabytes"], row["left_out"], rival,
    )  # fmt: skip
    return "".join(f"{one} | " for one in cells).rstrip()


def _sizes(text: str) -> tuple[int, ...]:
    try:
        return tuple(map(parse_size, text.split(",")))
    except InputError as error:
        raise ArgumentTypeError(str(error)) from error


def _collectives(text: str) -> tuple[str, ...]:
    kinds = tuple(text.split(","))
    if wrong := [kind for kind in kinds if kind not in set(CollectiveKind)]:
        raise ArgumentTypeError(f"{wrong[0]!r} is no collective; there are {', '.join(CollectiveKind)}")
    return kinds


def _networks(parser: ArgumentParser, words: list[str]) -> tuple[str, ...]:
    for word in words:
        try:
            parse_topology(word)
        except InputError as error:
            parser.error(f"NETWORK: {error}")
    return tuple(words)


class OneLineParser(ArgumentParser):
    """A parser that says in one line what is wrong, without the usage, and takes no beginnings of options."""

    def __init__(self, name: str, description: str | None) -> None:
        super().__init__(name, description=description, allow_abbrev=False, formatter_class=RawDescriptionHelpFormatter)

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}\n")


def main(arguments: list[str]) -> None:
    """Print what the arguments ask for; SystemExit 2, and a line on stderr, where they are not known or do not go together."""
    parser = OneLineParser("priced", __doc__)
    form = parser.add_mutually_exclusive_group()
    for name in ("--smoke", "--growth", "--rivals"):
        form.add_argument(name, action="store_true")
    parser.add_argument("--collectives", type=_collectives, action="extend", default=[])
    parser.add_argument("--sizes", type=_sizes, action="extend", default=[])
    parser.add_argument("networks", metavar="NETWORK", nargs="*")
    given = parser.parse_intermixed_args(arguments)
    networks, kinds, sizes = _networks(parser, given.networks), given.collectives, given.sizes
    if given.smoke and (networks or kinds or sizes):
        parser.error("--smoke takes no networks, --collectives and --sizes")
    if given.growth and (not networks or len(kinds) > 1 or len(sizes) > 1):
        parser.error("--growth takes networks, one collective and one size")
    if given.growth:
        growth(networks, *(kinds or ["all-reduce"]), *(sizes or [1 << 26]))
    elif given.smoke:
        rows(SMOKE, rivals=True, sizes=SIZES[:1])
    else:
        rows(networks or NETWORKS, rivals=given.rivals, sizes=tuple(sizes) or SIZES, collectives=tuple(kinds) or COLLECTIVES)


if __name__ == "__main__":
    main(sys.argv[1:])
