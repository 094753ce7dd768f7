"""Formats of programs: a class for each, which is also a kind of artefact that every command reads."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from certree.api import parsing
from certree.api.api_errors import DisagreementError, InvalidProgramError
from certree.api.artefacts import NO_TRUST, Artefact, Asked, Checked, artefact
from certree.api.checks.verdicts import schedule_outcome
from certree.extras.runtimes.make.raising import schedule_of_program
from certree.extras.runtimes.model.roles import members_of_ranks
from certree.extras.runtimes.reports import AnyVerdict, program_report, program_words
from certree.models.common.errors import InputError, UnsupportedError, located
from certree.models.common.extras import import_plug_ins
from certree.models.common.files import Opened
from certree.models.common.registry import Registry, import_folder
from certree.models.common.shown import Shown
from certree.models.machine.machine import Machine
from certree.models.network.topology import Topology
from certree.models.schedule.collective import ALLTOALLV, Collective, CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_file import SUFFIXES
from certree.verify.checker import verify_schedule
from certree.verify.verdict import Verdict

#: the smallest and the largest message, in bytes
Sizes = tuple[int, int]


@dataclass(frozen=True, repr=False)
class CheckedProgram(Shown):
    """A program's verdict and, where a network was given and the program is valid, its schedule there with the verdict on that."""

    program: AnyVerdict
    schedule: Schedule | None = None
    verdict: Verdict | None = None

    def title(self) -> str:
        """Whether it is valid."""
        return "valid" if self.valid else "invalid"

    def facts(self) -> dict[str, object]:
        """The collective and the ranks, and the first fault."""
        layout, violations = self.program.layout, self.program.verdict.violations
        facts: dict[str, object] = {"collective": str(layout.kind), "ranks": layout.ranks}
        return facts if not violations else facts | {"first": violations[0].message}

    @property
    def valid(self) -> bool:
        """Whether the program is valid, and its schedule on the network where one was given."""
        return self.program.valid and (self.verdict is None or self.verdict.valid)


class ProgramFormat(Artefact):
    """A format of programs; the class docstring is its help text.

    `suffix`: the end of the name of a file that `export` writes, or empty where it writes a folder, for one size of message and
    one machine. `has_one_size`: whether a file is for one size of message as well. `no_end`: of files, how the largest size of
    message says that there is none. `most_bytes`: of a file that is read. `executor`: the one within whose limits programs are
    written.
    """

    suffix: ClassVar[str]
    has_one_size: ClassVar[bool] = False
    no_end: ClassVar[int] = 0
    most_bytes: ClassVar[int] = 0
    executor: ClassVar[str | None] = None

    is_more = True
    has_executors = True
    on_any_network = True
    imports = SUFFIXES
    refuses: ClassVar[Mapping[str, str]] = {
        "route": "routes are asked for, which only a CSV may leave open; a program has none",
        "trust": NO_TRUST,
    }

    def parse(self, file: Opened) -> Any:
        """The program in a file; InputError, one line, where it is not a program of this format."""
        raise NotImplementedError

    def read(self, opened: Opened) -> Any:
        """The program on a path, which is that of a file unless the format says otherwise."""
        path = opened.path
        if path.is_file() and path.stat().st_size > self.most_bytes:
            raise InputError(f"{path}: {path.stat().st_size} bytes; allowed: up to {self.most_bytes}")
        return self.parse(opened)

    def execute(self, program: Any, collective: CollectiveKind | None, root: int | None, executor: str | None = None) -> AnyVerdict:
        """The verdict on an execution of the program; `collective` where one is given, `root` a rank, `executor` one whose limits
        it must keep."""
        raise NotImplementedError

    def write(self, schedule: Schedule, sizes: Sizes | None) -> bytes:
        """The bytes of a file for messages of some sizes (None: any); UnsupportedError for what the format cannot say."""
        raise UnsupportedError(f"{self.name}: programs of this format are read, not written")

    def write_for(self, schedule: Schedule, message_bytes: int) -> bytes:
        """Where a file is for one size of message: its bytes; UnsupportedError likewise."""
        raise UnsupportedError(f"{self.name}: programs of this format are read, not written")

    def write_folder(self, schedule: Schedule, message_bytes: int, machine: Machine, path: str) -> dict[str, bytes]:
        """Where `suffix` is empty: by name the files of a folder that will be at `path`; UnsupportedError likewise."""
        raise UnsupportedError(f"{self.name}: programs of this format are read, not written")

    def load(self, opened: Opened, asked: Asked) -> Any:
        """The program."""
        return self.read(opened)

    def schedule(self, opened: Opened, asked: Asked) -> Schedule:
        """The schedule that it executes on the network that is asked for."""
        if asked.topology is None:
            raise InputError(f"{opened}: a program does not say its network; give it with --topology, or import the program first")
        checked = self.checked(opened, topology=asked.topology, root=asked.root)
        if checked.schedule is None or checked.verdict is None:
            raise InvalidProgramError(checked.program.verdict.violations[0])
        if not checked.verdict.valid:
            raise DisagreementError(f"the schedule of a valid program is invalid: {checked.verdict.violations[0].message}")
        return checked.schedule

    def verify(self, opened: Opened, asked: Asked) -> Checked:
        """The verdict on its execution; with a network also the schedule that it executes there."""
        if asked.topology is None and (asked.size is not None or asked.machine is not None):
            raise InputError(f"{opened}: times need a network; give --topology with --size and --params")
        checked = self.checked(
            opened, topology=asked.topology, collective=asked.collective, root=asked.root, executor=asked.executor
        )
        report = program_report(checked.program, self.name)
        if checked.schedule is None or checked.verdict is None:
            then = ("verify", opened.path, "--topology", "NETWORK") if asked.topology is None else ()
            return Checked(checked, lambda tell: report, program_words, "program", then)
        return schedule_outcome(checked.schedule, checked.verdict, asked, before=program_words(report), whole=checked)

    def checked(
        self,
        opened: Opened,
        *,
        topology: Topology | None = None,
        collective: str | Collective | None = None,
        root: int | None = None,
        executor: str | None = None,
    ) -> CheckedProgram:
        """The verdict on a program and, on a network, the schedule that it executes there and the verdict on that."""
        program = self.read(opened)
        asked = None if collective is None else parsing.collective(collective, root)
        if asked is not None:
            if program.kind not in (asked.kind, None):
                raise InputError(f"{opened}: the collective is {program.kind}, not {asked.kind}")
            root = asked.root
        if root is not None and topology is not None:
            Collective(program.kind, root).require_fits(topology)
            root = int(topology.rank[root])
        found = self.execute(program, None if asked is None else asked.kind, root, executor)
        if asked is not None:
            with located(str(opened)):
                require_roles(found, asked, topology)
        if topology is None or not found.valid:
            return CheckedProgram(found)
        schedule = schedule_of_program(found, topology, self.name)
        return CheckedProgram(found, schedule, verify_schedule(schedule))


def require_roles(found: AnyVerdict, asked: Collective, topology: Topology | None) -> None:
    """Raise InputError unless the ranks that take part in a program are the members of a collective, and its blocks in the
    proportions of the demand. Without a network members are ranks."""
    roles = found.layout.roles
    members = asked.members if topology is None else members_of_ranks(asked.fitted(topology), topology)
    if roles.members != members:
        words = ["all ranks" if one is None else f"ranks {', '.join(map(str, one))}" for one in (roles.members, members)]
        raise InputError(f"the collective is among {words[0]}, not {words[1]}")
    if bool(roles.blocks) != (asked.demand is not None):
        raise InputError(f"the collective is an {ALLTOALLV if roles.blocks else found.layout.kind}, not {asked.words}")
    if asked.demand is None or not found.valid:
        return
    if topology is None:
        raise InputError(f"a demand is for the endpoints of a network; give it with --topology to compare the {ALLTOALLV} with it")
    run = found.run()
    amounts, rank = run.layout.amounts(run.sizes), topology.rank
    wanted = {(int(rank[one]), int(rank[other])): amount for one, other, amount in asked.demand.blocks}
    for pair in sorted({*wanted, *amounts}):
        if wanted.get(pair, 0) * amounts.total() != amounts[pair] * asked.demand.granules:
            share = f"{amounts[pair]} of {amounts.total()}"
            raise InputError(
                f"rank {pair[0]} has {share} for rank {pair[1]}; the demand is {wanted.get(pair, 0)} of {asked.demand.granules}"
            )


PROGRAM_FORMATS: Registry[ProgramFormat] = Registry("runtime format")


def program_format(name: str) -> Callable[[type[ProgramFormat]], type[ProgramFormat]]:
    """Register the decorated class as a format of programs and as a kind of artefact."""

    def add(found: type[ProgramFormat]) -> type[ProgramFormat]:
        PROGRAM_FORMATS.register(name)(found())
        return artefact(name)(found)  # type: ignore[return-value]

    return add


def load_program_formats() -> Registry[ProgramFormat]:
    """The registry, with every format imported, those of other extras, too (plug-ins "program formats")."""
    import_folder("certree.extras.runtimes.formats")
    import_plug_ins("program formats")
    return PROGRAM_FORMATS
