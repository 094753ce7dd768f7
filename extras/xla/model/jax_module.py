"""Python modules for JAX with a permute program: the template `device/template.py` with other constants."""

from collections.abc import Mapping
from typing import Any

from certree.extras.xla.model.packed import MOST_LISTED, packed, unpacked
from certree.extras.xla.model.permute_program import Int64, Permute, PermuteProgram, Stretch
from certree.extras.xla.model.template_module import Template, block_of, layout_line, layout_of, whole
from certree.models.common.errors import InputError, short

SUFFIX = ".py"
MAX_BYTES = 1 << 28
_MOST = 1 << 20
_COUNTS = {"CHUNKS": 1, "REPEATS": 1, "WIDTH": 0, "DEPTH": 1}
_NAMES = (*_COUNTS, "LOAD", "STORE", "STRETCHES")
_TEMPLATE = Template("certree.extras.xla.device", "template.py", 'x, axis_name, op="sum", cotangents="varying"', _NAMES)
MARK = b"# certree-jax 1\n"


def written_module(program: PermuteProgram) -> bytes:
    """The module of a program. The same program gives the same bytes."""
    return _TEMPLATE.written(program.layout, program.about, _constants(program))


def read_module(data: bytes, where: str) -> PermuteProgram:
    """The program of a module. InputError, one line, for a file that is none, has other code, or whose constants do not fit."""
    parts = _TEMPLATE.parts(data, where)
    try:
        program = _program(parts.values, parts.about)
        program.require_fits()
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
    _TEMPLATE.require_head(parts, program.layout, where)
    return program


def _constants(program: PermuteProgram) -> str:
    tables = [program.load, program.store]
    tables += [one for stretch in program.stretches for one in (stretch.send, stretch.take, stretch.put)]
    as_list = sum(one.size for one in tables) <= MOST_LISTED
    counts = (block_of(program.layout), program.repeats, program.width, program.depth)
    lines = [
        layout_line(program.layout),
        f"{', '.join(_COUNTS)} = {', '.join(map(str, counts))}",
        f"LOAD = {packed(program.load, as_list=as_list)}",
        f"STORE = {packed(program.store, as_list=as_list)}",
        f"STRETCHES = [\n{_TEMPLATE.comment.rstrip()}",
    ]
    for one in program.stretches:
        permutes = [(permute.rows, list(permute.pairs)) for permute in one.permutes]
        three = ", ".join(packed(found, as_list=as_list) for found in (one.send, one.take, one.put))
        lines.append(f"    ({permutes}, {one.own}, {three}),")
    return "\n".join([*lines, "]", ""])


def _program(values: Mapping[str, Any], about: str) -> PermuteProgram:
    ranks = whole(values, "RANKS", 2, _MOST)
    chunks, repeats, width, depth = (whole(values, one, least, _MOST) for one, least in _COUNTS.items())
    layout = layout_of(values, ranks, chunks)
    load, store = (unpacked(values[one], 2, one) for one in ("LOAD", "STORE"))
    if len(load) != ranks:
        raise InputError(f"LOAD has {len(load)} rows; expected one for each of {ranks} ranks")
    if not isinstance(values["STRETCHES"], list):
        raise InputError(f"STRETCHES is {short(values['STRETCHES'])}; expected a list")
    stretches = tuple(_stretch(one, f"stretch {number}", ranks) for number, one in enumerate(values["STRETCHES"]))
    return PermuteProgram(layout, repeats, about, width, depth, load, store, stretches)


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
