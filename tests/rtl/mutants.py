"""Single edits of the reference interface and of its tables, drawn by seed, and what catches each of them.

`python -m tests.rtl.mutants` makes `docs/reference/rtl-edits.md`: proof, assertion, or co-simulation. Edits that do not compile and
those of reset only are not drawn. It takes minutes: not part of `make test`.
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice, zip_longest
from pathlib import Path
from random import Random

from certree.hw.formats.bit_layout import Field, Widths
from certree.hw.formats.systemverilog import SystemVerilogFormat
from certree.hw.formats.systemverilog.package import offsets
from certree.hw.formats.systemverilog.sizes import sizes_of
from certree.hw.tables.directory import MANIFEST, read_tables
from certree.hw.tables.manifest import file_entry
from certree.models.common.errors import TableFormatError
from certree.models.tables.tables import Tables
from tests.rtl.banks import PAIRS, export_pair, joint, run_pair
from tests.rtl.cases import CASES, belated, export, skew_arguments, slow_arguments
from tests.rtl.edits import planted
from tests.rtl.model import build_model
from tests.rtl.proofs import PROOFS, prove
from tests.rtl.tools import Outcome, build, run_bench, verilator

STEPPED, OPENED = "## Tables without slots", "## Opening of the next tables"
PAGE = Path(__file__).parents[2] / "docs" / "reference" / "rtl-edits.md"
SEED, RTL, COUNTER, TABLES, STEPS = 20, 33, 25, 28, 25  # edits of the interface, its timestep counter, tables, tables in steps
SURVIVES = "survives"
NETWORKS = ("mesh-2x2-repeating", "fattree-2x2-routes", "mesh-2x2")  # of trees
COUNTED = ("mesh-1x3-in-flight", "mesh-1x2-sums")  # of blocks, and of buffers
_OF_COUNTED = ("cells", "counters", "place", "inputs", "outputs")  # modules that do more for these
LOCKSTEP = "lockstep"  # the module of tables that have no slots
PACED = ("mesh-2x2-repeating-lockstep", "fattree-2x2-routes-lockstep")  # such tables
PAIR = "mesh-2x2-then-broadcast"  # of tables that take over
#: name -> what is replaced, and by what; each match is one edit
OPERATORS = {
    "and to or": (r" && ", " || "),
    "or to and": (r" \|\| ", " && "),
    "equal to unequal": (r" == ", " != "),
    "unequal to equal": (r" != ", " == "),
    "less to less or equal": (r" < ", " <= "),
    "at least to more": (r" >= ", " > "),
    "plus to minus": (r" \+ ", " - "),
    "minus to plus": (r" - ", " + "),
    "zero to one": (r"1'b0", "1'b1"),
    "one to zero": (r"1'b1", "1'b0"),
    "no negation": (r"!(?=[a-z(])", ""),
    "swapped choice": (r" \? ([^?:;]+) : ([^?:;]+)(?=;)", r" ? \2 : \1"),
    "no assignment": (r"(^ *|\) |begin |else |: )[a-z_]+(?:\[[^=]*\])? <= [^;]+;", r"\1;"),
}


@dataclass(frozen=True)
class Edit:
    """One edit of a file: `line` counts from 1."""

    file: str
    line: int
    operator: str
    before: str
    after: str


def edits(path: Path) -> list[Edit]:
    """All single edits of a module, without ports, constants, assertions and reset."""
    found, is_body, is_reset = [], False, False
    for number, line in enumerate(path.read_text().splitlines(), 1):
        code = line.split("//")[0]
        if "`ifdef CERTREE_CHECK" in code:
            break
        is_body = is_body or code.startswith(");")
        is_reset = bool(re.search(r"if \((rst|restart)\) begin", code)) or (is_reset and not re.match(r" *end\b", code))
        if not is_body or is_reset or re.search(r"localparam|\bfor \(|rst \?", code) or "else if (rst" in code:
            continue
        for operator, (pattern, replacement) in OPERATORS.items():
            for match in re.finditer(pattern, code):
                after = code[: match.start()] + match.expand(replacement) + code[match.end() :]
                found.append(Edit(path.name, number, operator, code.strip(), after.strip()))
    return found


def drawn(folder: Path, seed: int, *, is_counter: bool = False) -> Iterator[Edit]:
    """Edits of all modules in turn, each time another operator where the module has one; of the timestep counter or all others."""
    random, queues = Random(seed), []
    for path in sorted(folder.glob("certree_ni*.sv")):
        if path.name.endswith(("_pkg.sv", "_tb.sv")) or is_counter != path.name.endswith(f"_{LOCKSTEP}.sv"):
            continue
        of_operator: dict[str, list[Edit]] = {}
        for edit in edits(path):
            of_operator.setdefault(edit.operator, []).append(edit)
        for group in of_operator.values():
            random.shuffle(group)
        groups = list(of_operator.values())
        random.shuffle(groups)
        queues.append([edit for row in zip_longest(*groups) for edit in row if edit is not None])
    return (edit for row in zip_longest(*queues) for edit in row if edit is not None)


def compiles(folder: Path) -> bool:
    """Whether Verilator accepts the files."""
    tool = verilator()
    assert tool is not None
    command = [tool[0], "--lint-only", "-Wno-lint", "-Wno-fatal", "--timing", "-f", "certree_ni.f", "--top-module", "certree_ni_tb"]
    return subprocess.run(command, cwd=folder, env=tool[1], capture_output=True, check=False).returncode == 0


def catcher(edit: Edit, sources: dict[str, Path], folder: Path) -> str | None:
    """What catches an edit, "" where nothing does; None where the edit does not compile."""
    module = edit.file.removeprefix("certree_ni_").removesuffix(".sv")
    networks = PACED if module == LOCKSTEP else (*COUNTED, *NETWORKS) if module in _OF_COUNTED else (*NETWORKS, *COUNTED)
    for network in networks:
        target, source = folder / network, sources[network]
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("obj_dir"))
        _edit(edit, target)
        if network == networks[0]:
            reason = prove(module, folder, target) if module in PROOFS else ""
            if reason.startswith("ERROR") or (not reason and not compiles(target)):
                return None
            if reason:
                label = re.search(r"Assert failed in \w+: (\w+)", reason)
                return f"proof: `{label[1]}`" if label else f"proof: {reason.split(':')[0]}"
        build(target)
        tables = CASES[network]()
        runs = [[], skew_arguments(tables, target), belated(tables, target)]
        for arguments in [*runs, *([slow_arguments(tables, target)] if module == LOCKSTEP else [])]:
            caught = _said(run_bench(target, *arguments))
            if caught:
                return caught
    return "" if module == LOCKSTEP else _pair_catcher(edit, sources, folder)


def _pair_catcher(edit: Edit, sources: dict[str, Path], folder: Path) -> str:
    """What catches an edit in a run in which tables take over; "" where nothing does."""
    target = folder / PAIR
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(sources[PAIR], target, ignore=shutil.ignore_patterns("model"))
    _edit(edit, target)
    pair = PAIRS[PAIR]()
    build_model(joint(*pair.images)[0], target)
    return _said(Outcome(*run_pair(target)))


def _edit(edit: Edit, target: Path) -> None:
    lines = (target / edit.file).read_text().splitlines()
    lines[edit.line - 1] = edit.after
    (target / edit.file).write_text("\n".join(lines) + "\n")


def _said(outcome: Outcome) -> str:
    if outcome.passed:
        return ""
    label = re.search(r"Assertion failed in \S*?(\w+):", outcome.text)
    return f"assertion: `{label[1]}`" if label else "co-simulation"


@dataclass(frozen=True)
class TableEdit:
    """Another value of one field of an image."""

    network: str
    file: str
    line: int
    field: str
    before: int
    after: int


#: fields that tables are edited in: image -> names
FIELDS = {
    "slots": ("op", "flow", "slot", "stage", "addr", "lane[0]", "line[0]", "wait_line", "wait_lines", "row"),
    "arrivals": ("op", "flow", "peer"),
    "routes": ("port[0]",),
}


def table_edits(network: str, seed: int) -> Iterator[tuple[TableEdit, bytes]]:
    """Edits of the images of a network, field after field, with the image that has each."""
    tables, random = CASES[network](), Random(seed)
    widths = Widths.of(tables)
    files = SystemVerilogFormat().files(tables, widths)
    fields = {"slots": sizes_of(tables, widths).fields, "arrivals": widths.arrival(), "routes": widths.ports()}
    while True:
        for image, names in FIELDS.items():
            images = [name for name in files if name.startswith(image) and files[name]]
            for name in names if images else ():
                place = next(i for i, field in enumerate(fields[image]) if field.name == name)
                bits, low = fields[image][place].bits, offsets(fields[image])[place]
                meant = {one: _meant(files[one].decode().splitlines(), name, fields[image]) for one in images}
                file = random.choice([one for one in images if meant[one]])
                lines = files[file].decode().splitlines()
                line = random.choice(meant[file])
                before = int(lines[line], 16) >> low & (1 << bits) - 1
                after = random.choice([value for value in range(min(1 << bits, 256)) if value != before])
                lines[line] = f"{int(lines[line], 16) ^ (before ^ after) << low:0{len(lines[line])}x}"
                yield TableEdit(network, file, line + 1, name, before, after), "".join(f"{text}\n" for text in lines).encode()


#: fields that mean something where another one is not 0
_GIVEN = {"wait_line": "wait_lines", "line[0]": "lane[0]"}


def _meant(lines: list[str], name: str, fields: list[Field]) -> list[int]:
    """The lines in which a field means something."""
    if name not in _GIVEN:
        return list(range(len(lines)))
    place = next(i for i, field in enumerate(fields) if field.name == _GIVEN[name])
    mask = (1 << fields[place].bits) - 1
    return [number for number, text in enumerate(lines) if int(text, 16) >> offsets(fields)[place] & mask]


def table_catcher(edit: TableEdit, image: bytes, folder: Path) -> str:
    """What catches an edit of a table that the compiled testbench in a folder loads; "" where nothing does."""
    path, tables = folder / edit.file, CASES[edit.network]()
    original = path.read_bytes()
    path.write_bytes(image)
    runs = [[], skew_arguments(tables, folder), belated(tables, folder)]
    try:
        for arguments in [*runs, *([slow_arguments(tables, folder)] if edit.network in PACED else [])]:
            caught = _said(run_bench(folder, *arguments))
            if caught:
                return caught
    finally:
        path.write_bytes(original)
    return _checker(edit, image, tables) if edit.network in PACED else ""


def _checker(edit: TableEdit, image: bytes, tables: Tables) -> str:
    """What the checker says of the edited tables, checksums aside; "" where it reads them."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "tables"
        export(tables, folder)
        (folder / edit.file).write_bytes(image)
        manifest = folder / MANIFEST
        stated = json.loads(manifest.read_bytes())
        stated["files"][edit.file] = file_entry(image)
        manifest.write_text(json.dumps(stated))
        try:
            read_tables(folder)
        except TableFormatError as error:
            return f"checker: {str(error).removeprefix(f'{folder}: ')}"
    return ""


def main(folders: list[str]) -> int:
    """Make the page; exit code 1 where an edit survives. A folder as argument keeps the compiled testbenches for another run."""
    with tempfile.TemporaryDirectory() as temporary:
        kept = Path(folders[0] if folders else temporary) / "sources"
        sources = {network: kept / network for network in (*NETWORKS, *COUNTED, *PACED, PAIR)}
        if not (sources[PAIR] / "model").exists():
            export_pair(PAIRS[PAIR](), sources[PAIR])
        for network in (*NETWORKS, *COUNTED, *PACED):
            source = sources[network]
            if not (source / "obj_dir").exists():
                source.parent.mkdir(parents=True, exist_ok=True)
                export(CASES[network](), source)
                build(source)
        rows, steps = list(_judged_tables(sources, NETWORKS, TABLES)), list(_judged_tables(sources, PACED, STEPS))
        lines = list(_judged_modules(sources, Path(temporary)))
        counter = list(_judged_modules(sources, Path(temporary), is_counter=True))
    opened = [_told(*row[:-1], row[-1] or SURVIVES) for row in planted.rows()]
    PAGE.write_text(page(lines, counter, rows, steps, opened))
    return any(entry[-1] == SURVIVES for entry in lines + counter + rows + steps + opened)


def _judged_modules(sources: dict[str, Path], folder: Path, *, is_counter: bool = False) -> Iterator[tuple[object, ...]]:
    checked, most = 0, COUNTER if is_counter else RTL
    for edit in drawn(sources[PACED[0]], SEED, is_counter=is_counter):
        caught = catcher(edit, sources, folder) if checked < most else None
        if caught is not None:
            checked += 1
            yield _told(edit.file, edit.line, edit.operator, edit.before, edit.after, caught or SURVIVES)


def _judged_tables(sources: dict[str, Path], networks: Sequence[str], most: int) -> Iterator[tuple[object, ...]]:
    drawn_edits = chain.from_iterable(zip(*(table_edits(network, SEED) for network in networks), strict=True))
    for edit, image in islice(drawn_edits, most):
        caught = table_catcher(edit, image, sources[edit.network]) or SURVIVES
        yield _told(edit.network, edit.file, edit.line, edit.field, edit.before, edit.after, caught)


def _told(*entry: object) -> tuple[object, ...]:
    print(*entry, sep=" | ", flush=True)
    return entry


_HEAD = """# Edits of the RTL and of its tables

Single edits of the [reference network interface](../how-to/hardware.md), drawn by seed over all of its files, and of the tables
that it executes. The last column says which check catches the edit: a proof by induction, an assertion in simulation, or the
comparison with the simulator (events, cycles, data), also of new tables that take over. The timestep counter of tables without
slots, and such tables, have edits of their own. One of these changes no run, a row whose step is one later; the checker finds it.
The edits of the last section are made by hand (`tests/rtl/edits/planted.py`): they change how the next tables open, and some of
them show only with a third image. `python -m tests.rtl.mutants` makes this page.
"""


Entries = list[tuple[object, ...]]


def page(lines: Entries, counter: Entries, rows: Entries, steps: Entries, opened: Entries) -> str:
    """The page; `lines`: edits of the RTL, `counter`: of its timestep counter, `rows`: of tables, `steps`: of slotless ones,
    `opened`: those made by hand."""

    def table(heads: str, entries: Entries) -> list[str]:
        names = heads.split(", ")
        shown = [[str(cell).replace("|", "\\|") for cell in entry] for entry in entries]
        return [f"| {' | '.join(names)} |", "|" + "---|" * len(names), *(f"| {' | '.join(cells)} |" for cells in shown)]

    coded = [[(*entry[:3], f"`{entry[3]}`", f"`{entry[4]}`", entry[5]) for entry in part] for part in (lines, counter)]
    modules, of_counter = (table("file, line, edit, before, after, caught by", part) for part in coded)
    tables, stepped = (table("network, file, line, field, before, after, caught by", part) for part in (rows, steps))
    parts = (("## The interface", modules), ("## The timestep counter", of_counter), ("## Tables", tables), (STEPPED, stepped))
    parts = (*parts, (OPENED, table("file, edit, caught by", opened)))
    return "\n".join([_HEAD, *(line for title, part in parts for line in (title, "", *part, ""))])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
