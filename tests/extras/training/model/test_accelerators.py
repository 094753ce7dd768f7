"""Accelerators by name, their peaks, and transformers with gates, fewer heads of keys, and experts."""

from fractions import Fraction

import pytest

from certree.extras.training.model.accelerators.chips import Chip
from certree.extras.training.model.accelerators.reading import ACCELERATORS, load_chip, parse_accelerator, read_accelerator
from certree.extras.training.model.accelerators.systolic import SystolicArrays
from certree.extras.training.model.workload_file import load_workload, read_workload
from certree.models.common.errors import InputError

CHIP = Chip("chip", Fraction(10**9), {2: Fraction(4 * 10**9)})


@pytest.mark.parametrize(
    ("positions", "products", "filters", "nanoseconds"),
    [
        (1000, 1000, 1000, 500_000_000),  # 2e9 operations at 4e9 a second; 6 MB of memory take 6 ms
        (1, 1000, 1000, 2_004_000),  # 1,002,000 + 1,000 numbers of 2 bytes at 1 byte a nanosecond; 0.5 ms of operations
        (1, 1, 1, 6),
    ],
)
def test_operations_or_memory_whichever_takes_longer(positions, products, filters, nanoseconds):
    assert CHIP.product(positions, products, filters) == nanoseconds


def test_efficiency_is_a_share_of_the_peak_and_not_of_the_memory():
    half = Chip("chip", Fraction(10**9), {2: Fraction(4 * 10**9)}, Fraction(1, 2))
    assert half.product(1000, 1000, 1000) == 2 * CHIP.product(1000, 1000, 1000)
    assert half.product(1, 1000, 1000) == CHIP.product(1, 1000, 1000)
    assert "0.5 of its peak" in half.title


#: Tflop/s for numbers of 2 bytes, and GB/s of memory, from the data sheets
PEAKS = {
    "a100": (312, 2039), "h100": (989.4, 3350), "h200": (989.4, 4800), "b200": (2250, 8000), "gb200": (2500, 8000),
    "mi300x": (1307.4, 5300), "tpu-v4": (275, 1200), "tpu-v5p": (459, 2765), "tpu7x": (2307, 7380), "trainium2": (667, 2900),
}  # fmt: skip


def test_shipped():
    chips = {name: load_chip(name) for name in ACCELERATORS.names()}
    peaks = {name: (chip.operations_per_second[2] / 10**12, chip.memory_bytes_per_second / 10**9) for name, chip in chips.items()}
    assert {name: (float(peak), float(memory)) for name, (peak, memory) in peaks.items()} == PEAKS
    assert all(chip.element_bytes == 2 and chip.name in chip.title for chip in chips.values())


def test_a_named_accelerator_keeps_batch_and_numbers_of_the_file():
    table = {"rows": 256, "batch": 32, "element_bytes": 4}
    chip = read_accelerator(table, {"name": "h100", "efficiency": "1/2"}, "w")
    assert (chip.batch, chip.element_bytes, chip.efficiency) == (32, 4, Fraction(1, 2))
    assert read_accelerator({"name": "h100"}, {"name": "b200"}, "w").name == "B200"
    assert read_accelerator({}, {}, "w") == SystolicArrays()


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ("h1000", "unknown accelerator 'h1000'; did you mean 'h100'?"),
        (["h100", "rows=3"], "unknown accelerator field 'rows'; known: batch, efficiency, element_bytes"),
        (["h100", "efficiency=3/2"], "efficiency is 3/2; expected a share of the peak from 1/1000 to 1"),
        (["h100", "efficiency=0"], "efficiency is 0; expected a share of the peak from 1/1000 to 1"),
        (["h100", "efficiency=1e-400"], "efficiency is 1e-400"),
        (["tpu-v4", "element_bytes=4"], "TPU v4: no peak for numbers of 4 bytes; give element_bytes, one of 1, 2"),
        (["h100", "b200"], "accelerator: name is given twice"),
        (["=3"], "accelerator '=3': expected a name such as h100, or FIELD=VALUE"),
        (["h100="], "accelerator 'h100=': expected a name such as h100, or FIELD=VALUE"),
        (["h100", 3], "expected texts such as 'h100' and 'batch=8', or a mapping of texts"),
        (7, "accelerator 7: expected texts"),
        ({"name": None}, "expected texts such as 'h100'"),
    ],
)
def test_what_is_no_accelerator(texts, message):
    with pytest.raises(InputError) as error:
        read_accelerator({}, parse_accelerator(texts), "w")
    assert message in str(error.value)


def products(workload):
    """Bytes of the gradients of a layer by its name, and its collectives."""
    return {layer.name: layer.weight_gradient.communication for layer in workload.layers}


def test_parameters_of_llama_3():
    """8.03 billion, of which 0.53 billion are embeddings, which are left out; norms are less than a million."""
    for name, billions in (("llama3-8b", 8.03 - 0.525), ("llama3-70b", 70.55 - 1.05), ("gpt3-175b", 174.6)):
        workload = load_workload(f"{name}:data=2")
        assert abs(workload.gradient_bytes / 2 / 10**9 - billions) < 0.05


def test_parts_of_a_block_with_a_gate_and_fewer_heads_of_keys():
    workload = load_workload("transformer:layers=1,width=64,heads=8,sequence=4,data=2,kv_heads=2,inner=96,gated=1")
    sizes = {name: one.bytes // 4 for name, one in products(workload).items() if one}
    assert sizes == {"0.qkv": 64 * (64 + 2 * 16), "0.projection": 64**2, "0.expand": 64 * 2 * 96, "0.contract": 96 * 64}


def test_experts():
    """Eight experts on four nodes: two at each, with as many tokens as all send two of them."""
    text = "transformer:layers=1,width=64,heads=8,sequence=16,data=8,expert=4,experts=8,active=2,inner=96"
    workload = load_workload(text, {"name": "h100"})
    layers = {layer.name: layer for layer in workload.layers}
    moved = layers["0.dispatch"].forward.communication
    assert (str(moved.kind), moved.group, moved.bytes) == ("all-to-all", "expert", 2 * 16 * 64 * 2)
    gradients = layers["0.expand"].weight_gradient.communication
    assert (gradients.group, gradients.bytes) == ("expert data", 2 * 64 * 96 * 2)
    assert workload.groups == {"data": 8, "expert": 4, "expert data": 2}
    chip = load_chip("h100")
    assert layers["0.expand"].forward.cycles == 2 * chip.product(16, 64, 96)
    assert layers["0.contract"].forward.communication is None
    cut = {layer.name: layer for layer in load_workload(f"{text},tensor=2,vocabulary=100", {"name": "h100"}).layers}
    sums = {name: cut[name].input_gradient.communication for name in ("0.qkv", "0.expand", "vocabulary")}
    assert {name: one.bytes for name, one in sums.items()} == {"0.qkv": 2048, "0.expand": 4096, "vocabulary": 2048}
    assert cut["0.contract"].forward.communication.bytes == 2 * cut["0.projection"].forward.communication.bytes == 4096
    alone = load_workload("transformer:layers=1,width=64,heads=8,sequence=16,experts=8,active=2,inner=96", {"name": "h100"})
    assert [layer.name for layer in alone.layers if "dispatch" in layer.name] == []
    assert alone.layers[4].forward.cycles == 8 * chip.product(4, 64, 96)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("llama3-8b:tensr=8", "unknown field 'tensr'; did you mean 'tensor'?"),
        ("llama3-8b:tensor=3", "heads=32 is not a multiple of tensor=3"),
        ("llama3-8b:tensor=16", "kv_heads=8 is not a multiple of tensor=16"),
        ("transformer:layers=1,width=64,heads=8,sequence=4,kv_heads=3", "heads=8 is not a multiple of kv_heads=3"),
        ("llama3-8b:gated=2", "gated=2; allowed: 0 or 1"),
        ("mixtral-8x7b:active=9", "a token passes active=9 of experts=8"),
        ("llama3-8b:active=2", "a token passes active=2 of experts=0"),
        ("vgg16:tensor=2", "vgg16: it is no transformer, of which 'tensor=2' could be changed"),
        ("llama3-8c", "unknown workload 'llama3-8c'; did you mean 'llama3-8b'?"),
    ],
)
def test_what_is_no_transformer(name, message):
    with pytest.raises(InputError) as error:
        load_workload(name)
    assert message in str(error.value)


def test_a_file_of_a_transformer(tmp_path):
    file = tmp_path / "own.toml"
    file.write_text(
        'format = "certree-workload"\nversion = 1\nname = "own"\n[transformer]\nlayers = 1\nwidth = 8\nheads = 2\nsequence = 4\n'
        '[accelerator]\nname = "tpu-v5p"\n'
    )
    workload = load_workload(f"{file}:layers=2")
    assert workload.name == "own:layers=2"
    assert len(workload.layers) == 12
    assert workload.computed_by == "by TPU v5p at its peak of 459 Tflop/s for numbers of 2 bytes"
    assert load_workload(str(file)).name == "own"
    file.write_text(file.read_text().replace('"tpu-v5p"', '"tpu-v5p"\nefficency = "1/2"'))
    with pytest.raises(InputError, match="unknown field 'efficency'; did you mean 'efficiency'"):
        load_workload(str(file))
    with pytest.raises(InputError, match="the batch of a transformer is a field of its own, such as llama3-8b:batch=8"):
        load_workload("llama3-8b", {"batch": "8"})
    with pytest.raises(InputError, match="one of shapes, layers and transformer is needed"):
        read_workload({"format": "certree-workload", "version": 1, "name": "x"}, "x")
    assert load_workload("astra-dlrm").computed_by == "in the cycles of the workload, at 1 GHz"
