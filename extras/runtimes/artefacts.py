"""Programs of runtimes among the artefacts that every command reads."""

from collections.abc import Mapping
from typing import Any, ClassVar

from certree.api.artefacts import NO_TRUST, Artefact, Asked, Checked, Opened, artefact
from certree.api.checks.verdicts import schedule_outcome
from certree.extras.runtimes.kinds import PLAN, TRACES, XML, ProgramKind
from certree.extras.runtimes.model import chakra, msccl, plan_file
from certree.extras.runtimes.programs import import_program, verify_program
from certree.extras.runtimes.reports import program_report, program_words
from certree.models.common.errors import InputError
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_file import SUFFIXES


class _Program(Artefact):
    """`kind`: how it is read and verified."""

    kind: ProgramKind
    is_more = True
    on_any_network = True
    imports = SUFFIXES
    refuses: ClassVar[Mapping[str, str]] = {
        "route": "routes are asked for, which only a CSV may leave open; a program has none",
        "trust": NO_TRUST,
    }

    def load(self, opened: Opened, asked: Asked) -> Any:
        """The program."""
        return self.kind.read(opened.path)

    def schedule(self, opened: Opened, asked: Asked) -> Schedule:
        """The schedule that it executes on the network that is asked for."""
        if asked.topology is None:
            raise InputError(f"{opened}: a program does not say its network; give it with --topology, or import the program first")
        return import_program(opened.path, asked.topology, root=asked.root)

    def verify(self, opened: Opened, asked: Asked) -> Checked:
        """What it does when it is executed; with a network also the schedule that it executes there."""
        if asked.topology is None and (asked.size is not None or asked.machine is not None):
            raise InputError(f"{opened}: times need a network; give --topology with --size and --params")
        checked = verify_program(opened.path, topology=asked.topology, collective=asked.collective, root=asked.root)
        report = program_report(checked.program)
        if checked.schedule is None or checked.verdict is None:
            then = ("verify", opened.path, "--topology", "NETWORK") if asked.topology is None else ()
            return Checked(checked, lambda tell: report, program_words, "program", then)
        return schedule_outcome(checked.schedule, checked.verdict, asked, before=program_words(report), whole=checked)


@artefact(XML.name)
class XmlProgram(_Program):
    """A program of MSCCL, as XML."""

    kind = XML
    endings = (msccl.SUFFIX,)

    def matches(self, opened: Opened) -> bool:
        """By the root element."""
        return b"<algo" in opened.start


@artefact(PLAN.name)
class Plan(_Program):
    """An execution plan of MSCCL++, as JSON."""

    kind = PLAN

    def matches(self, opened: Opened) -> bool:
        """By its keys."""
        return opened.format is None and plan_file.is_plan(opened.start)


@artefact(TRACES.name)
class Traces(_Program):
    """A collective as Chakra traces: a folder, or the files of all ranks by the name of one."""

    kind = TRACES

    def matches(self, opened: Opened) -> bool:
        """By the names of the files."""
        if opened.is_folder:
            return any(opened.path.glob(f"*.0{chakra.SUFFIX}"))
        return opened.path.suffix.lower() == chakra.SUFFIX  # NAME.et stands for NAME.RANK.et of all ranks
