"""Python modules for JAX with a permute program: written, and read without executing them.

A module is that of `device/template.py` with other constants: its code is the same for all schedules, but for the name of the
function. Reading takes the constants as literals, and requires the rest to be that code.
"""

import ast
import re
from functools import cache
from importlib.resources import files
from typing import Any

from certree.extras.runtimes.model.layout import Layout
from certree.extras.runtimes.model.roles import Roles
from certree.extras.xla.model.packed import MOST_LISTED, packed, unpacked
from certree.extras.xla.model.permute_program import Int64, Permute, PermuteProgram, Stretch
from certree.models.common.errors import InputError, short, unknown_name
from certree.models.schedule.collective import ALLTOALLV, WITH_ONE_ROOT, CollectiveKind

SUFFIX = ".py"
MAX_BYTES = 1 << 28
MARK = b"# certree-jax 1\n"
_MOST = 1 << 20
_CONSTANTS = "# constants of the schedule\n"
_CODE = "# the code below is the same in every such module\n"
_TABLES = "# permutes (rows, pairs), rows kept; by step and device: rows sent, rows taken, 3 * row + (0: nothing, 1: add, 2: copy)"
_NAMES = ("COLLECTIVE", "RANKS", "ROOT", "MEMBERS", "DEMAND", "CHUNKS", "REPEATS", "WIDTH", "DEPTH", "LOAD", "STORE", "STRETCHES")
_HEAD = re.compile(r'# certree-jax 1\n"""[^"\\]*?Written by `certree export --format jax` for: ([^"\\\n]{0,100})\.\n[^"\\]*"""\n')


def written_module(program: PermuteProgram) -> bytes:
    """The module of a program. The same program gives the same bytes."""
    _, code = _template()
    return f"{_head(program)}{_CONSTANTS}{_constants(program)}\n{_CODE}{_named(code, collective_name(program.layout))}".encode()


def _head(program: PermuteProgram) -> str:
    """What stands before the constants."""
    head, _ = _template()
    name = collective_name(program.layout)
    words = name.capitalize() if "all" not in name else f"{name[0].upper()}{name[1:]}"
    head = head.replace("All-reduce on 2 devices", f"{words} on {program.ranks} devices", 1)
    head = head.replace("all_reduce(x, axis_name)", f"{function_name(name)}(x, axis_name)", 1)
    return head.replace("all-reduce on ring:2, made by ring", program.about, 1)


def read_module(data: bytes, where: str) -> PermuteProgram:
    """The program of a module. InputError, one line, for a file that is none, has other code, or whose constants do not fit."""
    try:
        text = data.decode("ascii")
    except UnicodeDecodeError:
        raise InputError(f"{where}: it has characters that are not ASCII") from None
    head, found, rest = text.partition(_CONSTANTS)
    constants, second, code = rest.partition(f"\n{_CODE}")
    if not found or not second:
        raise InputError(f"{where}: it lacks the line {(_CODE if found else _CONSTANTS).strip()!r}")
    values = _literals(constants, head.count("\n") + 2, where)
    name = values["COLLECTIVE"]
    if not isinstance(name, str) or name not in _kinds():
        raise InputError(f"{where}: {unknown_name('collective', str(name), _kinds())}")
    own_head, own_code = _template()
    about = _HEAD.match(head)
    if about is None or head[about.end() :] != own_head[own_head.index('"""\n\nimport') + 4 :]:
        raise InputError(f"{where}: the lines before the constants are not those that certree writes")
    for number, (line, own) in enumerate(zip(f"{code}\n".split("\n"), f"{_named(own_code, name)}\n".split("\n"), strict=False)):
        if line != own:
            at = text[: -len(code)].count("\n") + 1 + number if code else text.count("\n")
            raise InputError(f"{where}: line {at} is {short(line)}; in a module of certree it is {short(own)}")
    if code != _named(own_code, name):
        raise InputError(f"{where}: its code has {len(code)} characters; expected {len(_named(own_code, name))}")
    try:
        program = _program(values, about[1])
        program.require_fits()
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
    if head != _head(program):
        raise InputError(f"{where}: the lines before the constants are not those of its schedule")
    return program


def collective_name(layout: Layout) -> str:
    """The name of the collective in a module."""
    return ALLTOALLV if layout.roles.blocks else str(layout.kind)


def function_name(collective: str) -> str:
    """The name of the function in a module."""
    return collective.replace("-", "_")


def _kinds() -> dict[str, CollectiveKind]:
    return {str(kind): kind for kind in CollectiveKind} | {ALLTOALLV: CollectiveKind.ALL_TO_ALL}


@cache
def _template() -> tuple[str, str]:
    """(what stands before the constants, the code after them) in the template."""
    text = (files("certree.extras.xla.device") / "template.py").read_text(encoding="ascii")
    head, _, rest = text.partition(_CONSTANTS)
    return head, rest.partition(f"\n{_CODE}")[2]


def _named(code: str, name: str) -> str:
    """The code with the function of a collective."""
    head = 'def all_reduce(x, axis_name, op="sum", cotangents="varying"):\n    """All-reduce of x'
    own = head.replace("all_reduce", function_name(name)).replace("All-reduce", f"{name[0].upper()}{name[1:]}")
    return code.replace(head, own, 1)


def _constants(program: PermuteProgram) -> str:
    layout = program.layout
    tables = [program.load, program.store]
    tables += [one for stretch in program.stretches for one in (stretch.send, stretch.take, stretch.put)]
    as_list = sum(one.size for one in tables) <= MOST_LISTED
    demand = [list(row) for row in layout.roles.blocks] or None
    members = None if layout.roles.members is None else list(layout.roles.members)
    chunks = 1 if demand else layout.block
    name = collective_name(layout)
    lines = [
        f'COLLECTIVE, RANKS, ROOT, MEMBERS, DEMAND = "{name}", {program.ranks}, {layout.root}, {members}, {demand}',
        f"CHUNKS, REPEATS, WIDTH, DEPTH = {chunks}, {program.repeats}, {program.width}, {program.depth}",
        f"LOAD = {packed(program.load, as_list=as_list)}",
        f"STORE = {packed(program.store, as_list=as_list)}",
        "STRETCHES = [",
        f"    {_TABLES}",
    ]
    for one in program.stretches:
        permutes = [(permute.rows, list(permute.pairs)) for permute in one.permutes]
        three = ", ".join(packed(found, as_list=as_list) for found in (one.send, one.take, one.put))
        lines.append(f"    ({permutes}, {one.own}, {three}),")
    return "\n".join([*lines, "]", ""])


def _literals(text: str, first: int, where: str) -> dict[str, Any]:
    """The constants by name; `first`: the line of the first one."""
    found: dict[str, Any] = {}
    try:
        for line in ast.parse(text).body:
            if not isinstance(line, ast.Assign) or len(line.targets) != 1:
                raise InputError(f"{where}: line {first + line.lineno - 1} is not a constant")
            target, value = line.targets[0], ast.literal_eval(line.value)
            if isinstance(target, ast.Tuple) and isinstance(value, tuple) and len(target.elts) == len(value):
                found |= {getattr(one, "id", ""): part for one, part in zip(target.elts, value, strict=True)}
            else:
                found[getattr(target, "id", "")] = value
    except (ValueError, SyntaxError, RecursionError, MemoryError) as error:
        raise InputError(f"{where}: its constants are not literals of Python: {short(str(error))}") from None
    if sorted(found) != sorted(_NAMES):
        raise InputError(f"{where}: it has the constants {short(', '.join(found))}; expected {', '.join(_NAMES)}")
    return found


def _program(values: dict[str, Any], about: str) -> PermuteProgram:
    name = values["COLLECTIVE"]
    ranks = _whole(values, "RANKS", 2)
    chunks, repeats, width, depth = (_whole(values, one, least) for one, least in _COUNTS.items())
    members = None if values["MEMBERS"] is None else tuple(unpacked(values["MEMBERS"], 1, "MEMBERS").tolist())
    blocks = () if values["DEMAND"] is None else tuple(map(tuple, unpacked(values["DEMAND"], 2, "DEMAND").tolist()))
    if bool(blocks) != (name == ALLTOALLV) or any(min(row) < 0 for row in blocks):
        raise InputError(f"DEMAND is {short(values['DEMAND'])}; an alltoallv has rows of whole numbers, and nothing else has it")
    kind = _kinds()[name]
    root = _whole(values, "ROOT", 0) if kind in WITH_ONE_ROOT else None
    if root is None and values["ROOT"] is not None:
        raise InputError(f"ROOT is {short(values['ROOT'])}; {name} has none")
    if blocks:
        chunks = max([*map(sum, blocks), *map(sum, zip(*blocks, strict=True))])
    elif kind in (CollectiveKind.ALL_GATHER, CollectiveKind.REDUCE_SCATTER, CollectiveKind.ALL_TO_ALL):
        chunks *= ranks if members is None else len(members)
    load, store = (unpacked(values[one], 2, one) for one in ("LOAD", "STORE"))
    if len(load) != ranks:
        raise InputError(f"LOAD has {len(load)} rows; expected one for each of {ranks} ranks")
    layout = Layout(kind, ranks, chunks, root, Roles(members, blocks))
    if not isinstance(values["STRETCHES"], list):
        raise InputError(f"STRETCHES is {short(values['STRETCHES'])}; expected a list")
    stretches = tuple(_stretch(one, f"stretch {number}", ranks) for number, one in enumerate(values["STRETCHES"]))
    return PermuteProgram(layout, repeats, about, width, depth, load, store, stretches)


_COUNTS = {"CHUNKS": 1, "REPEATS": 1, "WIDTH": 0, "DEPTH": 1}


def _whole(values: dict[str, Any], name: str, least: int) -> int:
    value = values[name]
    if type(value) is not int or not least <= value <= _MOST:
        raise InputError(f"{name} is {short(value)}; allowed: {least} to {_MOST}")
    return value


def _stretch(value: Any, where: str, ranks: int) -> Stretch:
    if not isinstance(value, tuple) or len(value) != 5 or not isinstance(value[0], list) or type(value[1]) is not int:
        raise InputError(f"{where} is {short(value)}; expected permutes, rows and three tables")
    permutes, own, *tables = value
    found = tuple(_permute(one, where) for one in permutes)
    if not 0 <= own <= _MOST:
        raise InputError(f"{where} keeps {own} rows; allowed: 0 to {_MOST}")
    send, take, put = (_shaped(unpacked(one, 3, f"a table of {where}"), ranks) for one in tables)
    return Stretch(found, own, send, take, put)


def _shaped(numbers: Int64, ranks: int) -> Int64:
    """An empty table that a list says, in its shape."""
    return numbers if numbers.size else numbers.reshape(numbers.shape[0], ranks, 0)


def _permute(value: Any, where: str) -> Permute:
    is_one = isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], list) and bool(value[1])
    if not is_one or type(value[0]) is not int or not 1 <= value[0] <= _MOST:
        raise InputError(f"{where}: a permute is {short(value)}; expected rows and pairs of devices")
    pairs = unpacked([list(pair) if isinstance(pair, tuple) else pair for pair in value[1]], 2, f"{where}: pairs of a permute")
    if pairs.shape[1] != 2:
        raise InputError(f"{where}: a permute has pairs of {pairs.shape[1]} devices")
    return Permute(value[0], tuple(map(tuple, pairs.tolist())))
