"""The commands that take a schedule, or its network, collective and method; and what comes of each with one form."""

import csv
import html
import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from certree.extras.tla.run import model_checks
from tests.cli.running import Outcome, certree
from tests.end_to_end.composition.forms import Form

WORKS, CHECK_FAILED, REFUSED, UNDECIDED, INTERNAL_ERROR = 0, 1, 2, 3, 70
TLC_SECONDS = 5.0
PACKETS = "id,src,dst,flits,start\n0,0,1,17,0\n1,1,2,5,3\n2,2,0,1,40\n"
WORKLOAD = """format = "certree-workload"
version = 1
name = "layer"
source = "two computations and a collective"
loop = "data"
clock_hertz = "1e9"

[[layers]]
name = "only"
forward = {{ cycles = 100 }}
input_gradient = {{ cycles = 100 }}
weight_gradient = {{ cycles = 100, collective = "{}", {} }}
update_cycles = 10
"""


@dataclass(frozen=True)
class Case:
    """A form and the folder with its schedule, `s.json`; every consumer writes into a folder of its own."""

    form: Form
    folder: Path
    out: Path

    @property
    def file(self) -> Path:
        """The schedule."""
        return self.folder / "s.json"

    @property
    def network(self) -> str:
        """The network of the form."""
        return self.form.on(self.folder)

    @property
    def asked(self) -> list[str]:
        """The collective of the form, as options."""
        return self.form.asked(self.folder)


@dataclass(frozen=True)
class Cell:
    """What came of a form at a consumer: the exit code and the line that says why it is not 0; None: not a combination."""

    code: int | None
    message: str


@dataclass(frozen=True)
class Consumer:
    """A command. `about`: the words of a user; `is_slow`: takes seconds; `by_method`: takes a method instead of a schedule."""

    about: str
    run: Callable[[Case], Cell]
    is_slow: bool = False
    by_method: bool = False

    def takes(self, form: Form) -> bool:
        """Whether the two are a combination at all: no command can be told a method that does not exist."""
        return not self.by_method or form.method is not None

    def cell(self, case: Case) -> Cell:
        """What comes of the case."""
        return self.run(case) if self.takes(case.form) else Cell(None, "")


CONSUMERS: dict[str, Consumer] = {}


def consumer(name: str, about: str, **more: bool) -> Callable[[Callable[[Case], Cell]], Callable[[Case], Cell]]:
    """Register a function as a consumer; `more`: fields of `Consumer`."""

    def add(function: Callable[[Case], Cell]) -> Callable[[Case], Cell]:
        CONSUMERS[name] = Consumer(about, function, **more)
        return function

    return add


def command(name: str, about: str, *words: str, is_slow: bool = False) -> None:
    """Register a command line: FILE, NETWORK, ASKED, SIZE, UNROUTED and OUT/... are filled in."""

    def run(case: Case) -> Cell:
        line: list[object] = []
        for word in words:
            line += {
                "FILE": [case.file],
                "NETWORK": [case.network],
                "ASKED": case.asked,
                "SIZE": case.form.sized,
                "UNROUTED": case.form.unrouted,
            }.get(word, [word.replace("OUT", str(case.out))])
        return cell(certree(*line))

    consumer(name, about, is_slow=is_slow)(run)


def cell(outcome: Outcome) -> Cell:
    """The exit code, and the error or, of a check that failed, the lines that it printed."""
    errors = [line for line in outcome.err.splitlines() if line.startswith("error: ")]
    return Cell(outcome.code, "" if outcome.code == 0 else " ".join((errors[-1] if errors else outcome.out).split()))


def unless(left_out: Iterable[str], outcome: Outcome) -> Cell:
    """A `cell`; refused, too, where the command ends well but says that it left out something, and why."""
    found = cell(outcome)
    reasons = "; ".join(left_out)
    return Cell(REFUSED, reasons) if found.code == 0 and reasons else found


# check it
command("verify", "`verify`", "verify", "FILE")
command("certify", "`certify`", "certify", "FILE", "-o", "OUT/c.json")


@consumer("model-check", "`model-check schedule`", is_slow=True)
def model_check(case: Case) -> Cell:
    """TLC on the tables."""
    return _decided("schedule", case)


@consumer("model-check-routers", "`model-check routers`", is_slow=True)
def model_check_routers(case: Case) -> Cell:
    """TLC on the messages in the routers."""
    return _decided("routers", case)


def _decided(subject: str, case: Case) -> Cell:
    """A check that does not end in a few seconds has taken the form, too."""
    with mock.patch.object(model_checks, "TIME_LIMITS", (TLC_SECONDS, TLC_SECONDS)):
        found = cell(certree("model-check", subject, case.file))
    return Cell(WORKS, "") if found.code == UNDECIDED else found


# make it better


@consumer("improve", "`improve`", is_slow=True)
def improve(case: Case) -> Cell:
    """A schedule that is kept as it is because the search does not take its form is not improved."""
    outcome = certree("improve", case.file, "-o", case.out / "i.json")
    return unless(re.findall("kept as it is: (.*)", outcome.err), outcome)


# hand it over
command("tables", "tables (`export --format readmemh`)", "export", "FILE", "-o", "OUT/t")
command("tables-json", "tables (`export --format json`)", "export", "FILE", "--format", "json", "-o", "OUT/t")
command("tables-size", "tables for another size", "export", "FILE", "--size", "10000", "-o", "OUT/t")


@consumer("systemverilog", "`export --format systemverilog`, the reference interface with it")
def systemverilog(case: Case) -> Cell:
    """Images and the package for all tables; the interface only where it executes them, which the contract says."""
    outcome = certree("export", case.file, "--format", "systemverilog", "-o", case.out / "t")
    has_interface = (case.out / "t" / "certree_ni.sv").exists()
    return unless([] if has_interface or outcome.code else ["no reference interface: it executes other tables only"], outcome)


command("msccl-xml", "`export --format msccl-xml`", "export", "FILE", "--format", "msccl-xml", "-o", "OUT/p.xml")
command("mscclpp", "`export --format mscclpp`", "export", "FILE", "--format", "mscclpp", "-o", "OUT/p.json")
command("chakra", "`export --format chakra`", "export", "FILE", "--format", "chakra", "-o", "OUT/p")
command("jax", "`export --format jax`", "export", "FILE", "--format", "jax", "-o", "OUT/p.py")
command("pallas", "`export --format pallas`", "export", "FILE", "--format", "pallas", "-o", "OUT/p.py")


@consumer("bundle", "`bundle`, without TLC")
def bundle(case: Case) -> Cell:
    """Evidence of all kinds; that there is no claim of the fewest steps or cycles or of an optimum, or no one order, is no gap."""
    outcome = certree("bundle", case.file, "--without-tla", *case.form.unrouted, "-o", case.out / "b.certree", "--json")
    items = outcome.document["items"] if outcome.code == 0 else []
    no_gap = ("fewest-cycles", "fewest-steps", "optimum", "order", "tla")
    absent = [one["text"] for one in items if one["status"] == "absent" and one["name"] not in no_gap]
    return unless(absent, outcome)


# run it
command("fast", "run, engine `fast`", "simulate", "FILE", "--engine", "fast", "--without-routers")
command("lanes", "run, engine `lanes`", "simulate", "FILE", "--engine", "lanes", "--without-routers")
command("flit", "run through routers, engine `flit`", "simulate", "FILE", "--engine", "flit")
command("flow", "run by a cost model, engine `flow`", "simulate", "FILE", "--engine", "flow")
command("paced", "paced run", "simulate", "FILE", "--run", "paced")
command("packets", "run in packets (`--flow packet`)", "simulate", "FILE", "--flow", "packet")
command("endpoint", "run with endpoints (`--endpoint ace`)", "simulate", "FILE", "--endpoint", "ace", "UNROUTED")
command("size", "run at another size", "simulate", "FILE", "--size", "10000")


@consumer("background", "run with background traffic")
def background(case: Case) -> Cell:
    """A few packets between the first endpoints."""
    (case.out / "p.csv").write_text(PACKETS)
    return cell(certree("simulate", case.file, "--background", case.out / "p.csv"))


command("execute", "`execute`", "execute", "FILE", "SIZE", "--iterations", "1")
# show it
command("draw", "`draw`", "draw", "FILE", "-o", "OUT/d.svg")
command("trees", "`draw --view trees`", "draw", "FILE", "--view", "trees", "-o", "OUT/d.svg")
command("waits", "`draw --view waits`", "draw", "FILE", "--view", "waits", "UNROUTED", "-o", "OUT/d.svg")


@consumer("report", "`report`")
def report(case: Case) -> Cell:
    """All parts but TLC and the comparison, which take long."""
    outcome = certree("report", case.file, "--no-published", *case.form.unrouted, "-o", case.out / "r.html")
    page = (case.out / "r.html").read_text() if outcome.code == 0 else ""
    reasons = [html.unescape(why) for why in re.findall("Left out: ([^<]*)", page)]
    return unless([why for why in reasons if "not asked for" not in why], outcome)


command("cost", "`cost`", "cost", "FILE")
# its network, collective and method
command("bound", "`bound` of its network and collective", "bound", "NETWORK", "ASKED", "SIZE")
command(
    "tune", "`tune` of its network and collective", "tune", "NETWORK", "ASKED",
    "--from", "4KiB", "--to", "4KiB", "--workers", "1", "-o", "OUT/tuned", is_slow=True,
)  # fmt: skip


@consumer("compare", "`compare` of its method", by_method=True)
def compare(case: Case) -> Cell:
    """One size, and the run in slots."""
    asked = [*case.asked, "--methods", case.form.method, *case.form.sized, *case.form.unrouted]
    outcome = certree("compare", case.network, *asked, "--json")
    if outcome.code:
        return cell(outcome)
    (found,) = outcome.document["cells"]
    return unless([found[name] for name in ("not_applicable", "refuted", "not_simulated") if found.get(name)], outcome)


@consumer("sweep", "`sweep` of its method", by_method=True)
def sweep(case: Case) -> Cell:
    """One row."""
    form = case.form
    words = [form.collective if form.root is None else f"{form.collective}@{form.root}"]
    words += [f"members={form.members}"] if form.members else []
    words += [f"demand={case.folder / 'demand.csv'}"] if form.demand else []
    fields = {"networks": [case.network], "methods": [form.method], "collectives": [":".join(words)]}
    fields |= {"routers": False} if form.without_routers else {}
    fields |= {} if form.demand else {"sizes": [form.size]}
    (case.out / "spec.toml").write_text("".join(f"{name} = {json.dumps(value)}\n" for name, value in fields.items()))
    outcome = certree("sweep", case.out / "spec.toml", "-o", case.out / "swept", "--workers", 1)
    if not (case.out / "swept" / "table.csv").exists():
        return cell(outcome)
    with (case.out / "swept" / "table.csv").open() as stream:
        (found,) = csv.DictReader(stream)
    return unless([found[name] for name in ("message", "not_simulated") if found[name]], outcome)


@consumer("train", "`train` with its method", by_method=True)
def train(case: Case) -> Cell:
    """One layer, whose gradients need the collective."""
    form = case.form
    amounts = [[int(amount) for amount in line.split(",")] for line in (form.demand or "").splitlines()]
    size = f"demand = {amounts}" if form.demand else "bytes = 4096"
    (case.out / "w.toml").write_text(WORKLOAD.format(form.collective, size))
    members = ["--group", f"all={form.members}"] if form.members else []
    return cell(certree("train", case.out / "w.toml", case.network, "--method", form.method, *members))
