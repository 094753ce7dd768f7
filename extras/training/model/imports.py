"""Workloads of other programs: SCALE-Sim's tables of layers, and ASTRA-sim 1.0's workload texts."""

from fractions import Fraction

from certree.extras.training.model.accelerators.accelerator import Shape
from certree.extras.training.model.workload import EVERYWHERE, MOST, Communication, Layer, Loop, Part, Workload
from certree.models.common.errors import InputError, short, unknown_name
from certree.models.common.files import csv_rows
from certree.models.schedule.collective import CollectiveKind

SUFFIXES = (".csv", ".txt")
ASTRA_HERTZ = Fraction(10**9)  # its times are cycles of 1 ns

LOCAL, ACROSS = "local", "across"  # the groups of ASTRA-sim's hybrid loops: within the first dimension, and over the others
_KINDS = {
    "NONE": None,
    "ALLREDUCE": CollectiveKind.ALL_REDUCE,
    "ALLTOALL": CollectiveKind.ALL_TO_ALL,
    "ALLGATHER": CollectiveKind.ALL_GATHER,
    "REDUCESCATTER": CollectiveKind.REDUCE_SCATTER,
}
#: the loop of each policy, and the groups of collectives of activations and of weight gradients
_POLICIES = {
    "DATA": (Loop.DATA, EVERYWHERE, EVERYWHERE),
    "MODEL": (Loop.MODEL, EVERYWHERE, EVERYWHERE),
    "HYBRID_DATA_MODEL": (Loop.HYBRID, LOCAL, ACROSS),
    "HYBRID_MODEL_DATA": (Loop.HYBRID, ACROSS, LOCAL),
    "HYBRID_DLRM": (Loop.DLRM, EVERYWHERE, EVERYWHERE),
}
_COLUMNS = 12  # name, dependency, three of (cycles, collective, bytes), update
_CONVOLUTION, _TWO_STRIDES, _PRODUCT = 7, 8, 3  # numbers of a layer of SCALE-Sim
_LARGEST = 1 << 20


def scale_sim_shapes(data: bytes) -> list[Shape]:
    """The layers of a SCALE-Sim topology table: name, height and width of the input and of the filter, channels, filters, and a
    stride, or two equal ones; or of a table of matrix products: name, M, N, K.

    A header, empty lines, lines with a title alone and empty last columns are skipped. InputError names the line.
    """
    shapes = []
    for number, row in enumerate(csv_rows(data, "the table"), 1):
        cells = [cell.strip() for cell in row]
        while cells and not cells[-1]:
            cells.pop()
        if len(cells) <= 1 or number == 1:
            continue
        shape = _scale_sim_shape(cells[0], [_whole(cell, number, 1, _LARGEST) for cell in cells[1:]], number)
        if shape.filter_height > shape.height or shape.filter_width > shape.width:
            raise InputError(f"line {number}: the filter of {shape.name} is larger than its input")
        shapes.append(shape)
    if not shapes:
        raise InputError("no layers; expected a SCALE-Sim table with a layer in each line behind the header")
    return shapes


def _scale_sim_shape(name: str, numbers: list[int], line: int) -> Shape:
    if len(numbers) == _PRODUCT:
        rows, columns, products = numbers
        return Shape(name, rows, 1, 1, 1, products, columns)
    if len(numbers) == _TWO_STRIDES and numbers[-1] != numbers[-2]:
        raise InputError(f"line {line}: strides {numbers[-2]} and {numbers[-1]} of {name} differ; allowed: equal ones")
    if len(numbers) not in (_CONVOLUTION, _TWO_STRIDES):
        raise InputError(f"line {line}: {len(numbers)} numbers behind the name; a layer has 7 or 8, a matrix product 3")
    return Shape(name, *numbers[:_CONVOLUTION])


def astra_workload(data: bytes, name: str) -> Workload:
    """The workload of an ASTRA-sim 1.0 text: the policy, how many layers, and a line for each. InputError names the line.

    The last number of a line is taken as cycles from the end of a collective of this layer until its result is used.
    """
    lines = [(number, line.split()) for number, line in enumerate(_text(data).splitlines(), 1) if line.split()]
    if len(lines) < 3:
        raise InputError("expected the policy, the number of layers, and a line for each layer")
    (_, policy), (second, count), *rows = lines
    if policy[0] not in _POLICIES:
        raise InputError(unknown_name("policy", policy[0], _POLICIES))
    loop, activations, gradients = _POLICIES[policy[0]]
    last_bottom = None
    if loop is Loop.DLRM:
        if len(policy) != 2:
            raise InputError(f"line 1: {policy[0]} needs the number of the last bottom layer, and nothing else")
        last_bottom = _whole(policy[1], 1, 1, _LARGEST)
    elif len(policy) != 1:
        raise InputError(f"line 1: {short(' '.join(policy))}; {policy[0]} stands alone")
    if len(count) != 1 or _whole(count[0], second, 1, _LARGEST) != len(rows):
        raise InputError(f"line {second}: {short(' '.join(count))} layers are announced, {len(rows)} follow")
    layers = tuple(_astra_layer(number, row, activations, gradients) for number, row in rows)
    return Workload(name, loop, ASTRA_HERTZ, layers, f"ASTRA-sim 1.0 text {name}", last_bottom=last_bottom)


def _astra_layer(number: int, row: list[str], activations: str, gradients: str) -> Layer:
    if len(row) != _COLUMNS:
        raise InputError(f"line {number}: {len(row)} columns; a layer has {_COLUMNS}")
    parts = []
    for first, group in ((2, activations), (5, activations), (8, gradients)):
        cycles, kind, size = row[first : first + 3]
        if kind not in _KINDS:
            raise InputError(f"line {number}: {unknown_name('collective', kind, _KINDS)}")
        found, number_of_bytes = _KINDS[kind], _whole(size, number, 0, MOST)
        communication = None if found is None or not number_of_bytes else Communication(found, number_of_bytes, group)
        parts.append(Part(_whole(cycles, number, 0, MOST), communication))
    forward, input_gradient, weight_gradient = parts
    return Layer(row[0], forward, input_gradient, weight_gradient, _whole(row[-1], number, 0, MOST))


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as reason:
        raise InputError(f"not UTF-8: {reason}") from None


def _whole(text: str, line: int, low: int, high: int) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 20 and low <= int(text) <= high):
        raise InputError(f"line {line}: {short(text)}; expected a whole number from {low} to {high}")
    return int(text)
