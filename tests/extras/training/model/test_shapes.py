"""Cycles of layers from their shapes, counted fold by fold, and the workloads that come with certree."""

import itertools
from fractions import Fraction

import pytest

from certree.extras.training.model.accelerators.accelerator import Shape
from certree.extras.training.model.accelerators.systolic import Dataflow, SystolicArrays
from certree.extras.training.model.transformer import parse_transformer
from certree.extras.training.model.workload import Phase
from certree.extras.training.model.workload_file import WORKLOADS, load_workload, read_workload, workload_document
from certree.models.common.errors import InputError
from certree.models.schedule.timing import ceil_div

CONVOLUTION = Shape("c", 9, 7, 3, 3, 5, 6, 2)


def folds(across: int, along: int, rows: int, columns: int) -> int:
    """Tiles of an array, one by one."""
    return sum(1 for _ in itertools.product(range(0, across, rows), range(0, along, columns)))


def outputs(shape: Shape) -> int:
    """Positions of a filter in the input, one by one."""
    down = range(0, shape.height - shape.filter_height + 1, shape.stride)
    return len(down) * len(range(0, shape.width - shape.filter_width + 1, shape.stride))


def test_a_convolution_on_outputs_that_stay():
    array = SystolicArrays(rows=4, columns=4)
    assert outputs(CONVOLUTION) == CONVOLUTION.positions == 12
    forward, back, weight = array.cycles(CONVOLUTION)
    assert forward == folds(12, 6, 4, 4) * 45 + 6
    assert back == folds(63, 5, 4, 4) * 54 + 6
    assert weight == folds(45, 6, 4, 4) * 12 + 6


def test_without_double_buffering_every_fold_fills_and_drains():
    array = SystolicArrays(rows=4, columns=4, double_buffered=False)
    assert array.cycles(CONVOLUTION)[0] == folds(12, 6, 4, 4) * (45 + 2 * 4 + 4 - 2)


@pytest.mark.parametrize(("dataflow", "across", "along", "deep"), [
    (Dataflow.WEIGHT, 45, 6, 12), (Dataflow.INPUT, 45, 12, 6),
])  # fmt: skip
def test_other_dataflows(dataflow, across, along, deep):
    plain = SystolicArrays(rows=4, columns=3, dataflow=dataflow, double_buffered=False)
    assert plain.cycles(CONVOLUTION)[0] == folds(across, along, 4, 3) * (deep + 2 * 4 + 3 - 2)
    buffered = SystolicArrays(rows=4, columns=3, dataflow=dataflow)
    assert buffered.cycles(CONVOLUTION)[0] == folds(across, along, 4, 3) * max(deep, 4) + 2 * 4 + 3 - 2


#: rows and columns of the array, positions, products, filters, and the lines of the demand matrices that `scalesim` 3.0.0 makes of
#: them where outputs, weights and inputs stay: its cycles without stalls
SCALE_SIM_CYCLES = """
4 4, 12 45 6, 306 528 576
4 3, 12 45 6, 300 504 720
4 4, 63 54 5, 1920 2044 3360
8 8, 5 3 2, 17 27 24
8 8, 100 27 64, 4264 3904 4472
16 16, 40 9 33, 351 258 237
32 32, 33 100 17, 324 508 888
32 32, 49 64 70, 756 858 656
"""


@pytest.mark.parametrize("line", SCALE_SIM_CYCLES.strip().split("\n"))
def test_cycles_of_scale_sim(line):
    (rows, columns), (positions, products, filters), theirs = (map(int, part.split()) for part in line.split(","))
    arrays = {dataflow: SystolicArrays(rows, columns, dataflow=dataflow, double_buffered=False) for dataflow in Dataflow}
    output, weight, inputs = (arrays[dataflow].product(positions, products, filters) for dataflow in Dataflow)
    draining = folds(positions, filters, rows, columns) * rows  # of outputs, which its analytical mode counts as well
    assert (output - draining, weight, inputs) == tuple(theirs)


def test_batches_are_dealt_to_the_arrays():
    one, many = SystolicArrays(rows=4, columns=4), SystolicArrays(rows=4, columns=4, arrays=3, batch=3)
    assert many.cycles(CONVOLUTION)[:2] == one.cycles(CONVOLUTION)[:2]
    weights = 45 * 6
    assert many.cycles(CONVOLUTION)[2] == one.cycles(CONVOLUTION)[2] + 3 * ceil_div(ceil_div(weights, 3), 4)
    two = SystolicArrays(rows=4, columns=4, arrays=3, batch=4)
    assert two.cycles(CONVOLUTION)[0] == folds(2 * 12, 6, 4, 4) * 45 + 6


#: layers, bytes of gradients, and cycles of the three phases in millions (MultiTree's with additions over 16 arrays in the last)
KNOWN = {
    "multitree-alexnet": (5, 14983296, "25.2 44.5 25.3"),
    "multitree-alphagozero": (8, 6294480, "0.4 0.5 0.4"),
    "multitree-fasterrcnn": (46, 53035776, "3.7 9.8 3.9"),
    "multitree-googlenet": (58, 27416832, "1.5 6.5 1.6"),
    "multitree-ncf": (8, 44170816, "0.6 0.3 0.4"),
    "multitree-resnet50": (54, 102011648, "3.7 10.2 4.1"),
    "multitree-transformer": (891, 309673312, "2.5 3.6 3.7"),
    "astra-resnet50": (54, 102011648, "0.4 0.4 0.3"),
    "astra-dlrm": (8, 3191808, "0.0 0.0 0.0"),
    "astra-mlp-model": (6, 0, "0.1 0.1 0.0"),
    "astra-mlp-hybrid": (6, 447232, "0.1 0.1 0.1"),
    "alexnet": (8, 4 * 62367776, "0.9 76.3 0.8"),
    "vgg16": (16, 4 * 138344128, "12.2 18.0 14.9"),
    "gnmt": (19, 856686592, "5.9 5.9 5.2"),
    "llama3-8b": (193, 0, "159.8 159.8 159.8"),
    "llama3-70b": (481, 0, "1328.7 1328.7 1328.7"),
    "llama3-405b": (757, 0, "7246.0 7246.0 7246.0"),
    "gpt3-175b": (577, 0, "742.7 742.7 742.7"),
    "mixtral-8x7b": (193, 0, "246.7 246.7 246.7"),
}


@pytest.mark.parametrize("name", WORKLOADS.names())
def test_shipped(name):
    workload = load_workload(name)
    cycles = " ".join(f"{sum(layer.part(phase).cycles for layer in workload.layers) / 10**6:.1f}" for phase in Phase)
    assert (len(workload.layers), workload.gradient_bytes, cycles) == KNOWN[name]
    assert workload.source
    assert read_workload(workload_document(workload), name) == workload


def test_fields_of_the_accelerator_can_be_changed():
    changed = load_workload("vgg16", {"rows": "32", "clock_hertz": "1e9", "double_buffered": "false", "batch": "1"})
    assert changed.clock_hertz == 10**9
    assert changed.samples == 1
    assert changed.cycles != load_workload("vgg16").cycles


SCALE_SIM = "Layer name, IFMAP Height,\n\nTitle,\nConv, 9, 7, 3, 3, 5, 6, 2,\nFC, 1,1,1,1, 6, 8, 1, \n"
ASTRA = "HYBRID_DATA_MODEL\n1\nm -1 5 ALLGATHER 6 7 ALLREDUCE 8 9 NONE 0 10\n"


def test_a_table_of_scale_sim(tmp_path):
    (tmp_path / "net.csv").write_text(SCALE_SIM)
    workload = load_workload(str(tmp_path / "net.csv"), {"rows": "4", "columns": "4"})
    assert [layer.name for layer in workload.layers] == ["Conv", "FC"]
    assert workload.layers[0].forward.cycles == SystolicArrays(rows=4, columns=4).cycles(CONVOLUTION)[0]
    assert workload.gradient_bytes == 4 * (45 * 6 + 48)


def test_a_table_of_matrix_products_and_one_with_two_strides(tmp_path):
    (tmp_path / "products.csv").write_text("Layer, M, N, K,\nG, 12, 6, 45,\n")
    array = {"rows": "4", "columns": "4"}
    (layer,) = load_workload(str(tmp_path / "products.csv"), array).layers
    assert layer.forward.cycles == SystolicArrays(rows=4, columns=4).product(12, 45, 6)
    assert layer.weight_gradient.communication.bytes == 4 * 45 * 6
    (tmp_path / "net.csv").write_text(SCALE_SIM)
    (tmp_path / "two.csv").write_text(SCALE_SIM.replace(", 6, 2,", ", 6, 2, 2,"))
    one, two = (load_workload(str(tmp_path / name), array).layers for name in ("net.csv", "two.csv"))
    assert one == two


def test_a_text_of_astra_sim(tmp_path):
    (tmp_path / "net.txt").write_text(ASTRA)
    (layer,) = load_workload(str(tmp_path / "net.txt")).layers
    assert (layer.forward.cycles, layer.input_gradient.cycles, layer.weight_gradient.cycles) == (5, 7, 9)
    assert (str(layer.forward.communication.kind), layer.forward.communication.group) == ("all-gather", "local")
    assert layer.weight_gradient.communication is None
    assert layer.update_cycles == 10


@pytest.mark.parametrize(
    ("suffix", "text", "reason"),
    [
        ("csv", "x\n", "no layers"),
        ("csv", SCALE_SIM.replace(", 6, 2,", ", 6,"), "line 4: 6 numbers behind the name; a layer has 7 or 8, a matrix product 3"),
        ("csv", SCALE_SIM.replace(", 6, 2,", ", 6, 2, 1,"), "line 4: strides 2 and 1 of Conv differ"),
        ("csv", SCALE_SIM.replace("Conv, 9", "Conv, 2"), "line 4: the filter of Conv is larger than its input"),
        ("csv", SCALE_SIM.replace("Conv, 9", "Conv, -9"), "line 4: '-9'; expected a whole number from 1"),
        ("txt", "DATA", "expected the policy"),
        (
            "txt",
            ASTRA.replace("HYBRID_DATA_MODEL", "HYBRID"),
            "unknown policy 'HYBRID'; did you mean 'HYBRID_DLRM'. known: DATA, MODEL",
        ),
        ("txt", ASTRA.replace("HYBRID_DATA_MODEL", "HYBRID_DLRM"), "line 1: HYBRID_DLRM needs the number of the last bottom layer"),
        ("txt", ASTRA.replace("\n1\n", "\n2\n"), "line 2: '2' layers are announced, 1 follow"),
        ("txt", ASTRA.replace(" 10\n", "\n"), "line 3: 11 columns; a layer has 12"),
        ("txt", ASTRA.replace("ALLGATHER", "BARRIER"), "line 3: unknown collective 'BARRIER'"),
    ],
)
def test_refused(tmp_path, suffix, text, reason):
    (tmp_path / f"net.{suffix}").write_text(text)
    with pytest.raises(InputError, match=rf"net\.{suffix}: {reason}"):
        load_workload(str(tmp_path / f"net.{suffix}"))


def test_a_transformer_of_one_node_has_the_products_of_its_blocks():
    array = SystolicArrays(rows=8, columns=8)
    workload = parse_transformer("transformer:layers=2,width=16,heads=4,sequence=32,batch=3,data=2", array)
    assert [layer.name for layer in workload.layers[:6]] == [
        "0.qkv",
        "0.scores",
        "0.context",
        "0.projection",
        "0.expand",
        "0.contract",
    ]
    assert [layer.forward.cycles for layer in workload.layers[:6]] == [
        array.product(96, 16, 48), 12 * array.product(32, 4, 32), 12 * array.product(32, 32, 4), array.product(96, 16, 16),
        array.product(96, 16, 64), array.product(96, 64, 16),
    ]  # fmt: skip
    assert workload.gradient_bytes == 2 * 4 * 12 * 16**2
    assert workload.groups == {"data": 2}


def test_a_transformer_in_parallel():
    parallel = "tensor=2,data=4,expert=2,pipeline=2,micro_batches=2"
    text = f"transformer:layers=4,width=16,heads=4,sequence=32,batch=4,vocabulary=100,{parallel}"
    workload = parse_transformer(text, SystolicArrays())
    assert workload.groups == {"tensor": 2, "data": 4, "expert": 2, "expert data": 2, "pipeline": 2}
    assert (workload.stages, workload.micro_batches, len(workload.layers)) == (2, 2, 2 * 8 + 2)
    activations = 4 * 32 * 2 * 16
    sizes = {(one.kind, one.group): one.bytes for one in workload.communications() if "data" not in one.group}
    assert set(sizes.values()) == {activations}
    assert {(str(kind), group) for kind, group in sizes} == {
        ("all-reduce", "tensor"), ("all-to-all", "expert"), ("broadcast", "pipeline"),
    }  # fmt: skip
    dense = sum(one.bytes for one in workload.communications() if one.group == "data")
    assert dense == 4 * (2 * 4 * 16**2 // 2 + 16 * 50)
    assert sum(one.bytes for one in workload.communications() if one.group == "expert data") == 4 * 2 * 8 * 16**2 // 2
    assert workload.clock_hertz == Fraction(10**9)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("layers=4", "width, heads, sequence are missing"),
        ("layers=4,layers=4", "'layers=4': expected NAME=NUMBER, every name once"),
        ("layers=4,width=16,heads=3,sequence=8", "width=16 is not a multiple of heads=3"),
        ("layers=0,width=16,heads=4,sequence=8", "layers is 0; allowed: whole numbers from 1"),
    ],
)
def test_transformer_refused(text, reason):
    with pytest.raises(InputError, match=reason):
        load_workload(f"transformer:{text}")
