"""Workload files: TOML with the cycles of each layer, or with shapes or a transformer and what computes them; presets."""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from certree.extras.runtimes.model.chakra import SUFFIX, read_chakra
from certree.extras.training.model.accelerators.accelerator import Accelerator, Shape, layers_of
from certree.extras.training.model.accelerators.reading import NAME, read_accelerator
from certree.extras.training.model.chakra_trace import trace_workload
from certree.extras.training.model.imports import SUFFIXES, astra_workload, scale_sim_shapes
from certree.extras.training.model.transformer import TRANSFORMER, parse_transformer
from certree.extras.training.model.workload import EVERYWHERE, MOST, Communication, Layer, Loop, Part, Workload, alltoallv
from certree.models.common.errors import InputError, located, short, unknown_name
from certree.models.common.fields import ABOVE_ZERO, Fields
from certree.models.common.files import read_bytes
from certree.models.common.presets import Presets, parse_toml
from certree.models.schedule.collective import ALLTOALLV, CollectiveKind

FORMAT, VERSION = "certree-workload", 1
WORKLOADS = Presets("certree.extras.training.model", "presets", "workload")
_SHAPE = ("name", "height", "width", "filter height", "filter width", "channels", "filters", "stride")
_LARGEST = 1 << 20  # of a number of a shape: products of six stay within what times can be


def load_workload(name: str, accelerator: Mapping[str, str] | None = None) -> Workload:
    """A workload by name, of a file (.toml; .csv of SCALE-Sim; .txt of ASTRA-sim 1.0; .et of Chakra), or by formula
    (`transformer:...`).

    Fields of a transformer may be changed: `llama3-8b:tensor=8,data=4`. `accelerator`: by `name` one, or fields of one as
    texts, in place of those of the file; for shapes and transformers only. InputError says what is wrong and where.
    """
    changed = dict(accelerator or {})
    if name.startswith(TRANSFORMER):
        return parse_transformer(name, _of_transformer({}, changed, name))
    model, _, parts = name.partition(":")
    if parts and not name.endswith(".toml") and (model in WORKLOADS.names() or model.endswith(".toml")):
        return read_workload(parse_toml(WORKLOADS.read(model), model), model, changed, parts)
    if name.endswith(".csv"):
        with located(name):
            array = read_accelerator({}, changed, name)
            shapes = scale_sim_shapes(read_bytes(Path(name)))
            return _of_shapes(Path(name).stem, shapes, array, f"SCALE-Sim table {Path(name).name}")
    if name.endswith(SUFFIX):
        _no_accelerator(changed, name)
        return trace_workload(read_chakra(read_bytes(Path(name)), name), Path(name).stem, name)
    if name.endswith(".txt"):
        _no_accelerator(changed, name)
        with located(name):
            return astra_workload(read_bytes(Path(name)), Path(name).stem)
    if name not in WORKLOADS.names() and not name.endswith(".toml"):
        besides = f"{TRANSFORMER}layers=N,..., or a file ending in .toml, {', '.join((*SUFFIXES, SUFFIX))}"
        raise InputError(unknown_name("workload", name, WORKLOADS.names(), besides))
    return read_workload(parse_toml(WORKLOADS.read(name), name), name, changed)


def read_workload(document: Any, where: str, accelerator: Mapping[str, str] | None = None, parts: str = "") -> Workload:
    """The workload of a parsed file; `accelerator` as in `load_workload`, `parts` the fields of a transformer that are changed."""
    found, changed = Fields.of_format(document, FORMAT, VERSION, where), dict(accelerator or {})
    name, source = found.text("name"), found.text("source", default="")
    if sum(form in found for form in ("shapes", "layers", "transformer")) != 1:
        found.refuse("one of shapes, layers and transformer is needed")
    if "transformer" in found:
        array = _of_transformer(found.raw("accelerator", {}), changed, where)
        stated = found.table_of("transformer").table
        found.done()
        return replace(parse_transformer(f"{name}:{parts}" if parts else name, array, stated), source=source)
    if parts:
        found.refuse(f"it is no transformer, of which {parts!r} could be changed")
    if "shapes" in found:
        array = read_accelerator(found.raw("accelerator", {}), changed, where)
        first = found.choice("first_input_gradient", (True, False), default=False)
        shapes = [_shape(found, number, row) for number, row in enumerate(found.entries("shapes"), 1)]
        found.done()
        return replace(_of_shapes(name, shapes, array, source), first_input_gradient=first)
    _no_accelerator(changed, where)
    workload = Workload(
        name=name,
        loop=Loop(found.choice("loop", (str(loop) for loop in Loop if loop is not Loop.TRACE))),
        clock_hertz=found.exact("clock_hertz", ABOVE_ZERO),
        layers=found.each("layers", _layer, least=1),
        source=source,
        samples=found.whole("samples", 1, MOST) if "samples" in found else None,
        last_bottom=found.whole("last_bottom", 1, MOST) if "last_bottom" in found else None,
        first_input_gradient=found.choice("first_input_gradient", (True, False), default=False),
        stages=found.whole("stages", 1, 1 << 20, default=1),
        micro_batches=found.whole("micro_batches", 1, 1 << 20, default=1),
        groups=found.numbers("groups"),
        accelerator=found.text("accelerator", default=""),
    )
    found.done()
    return workload


def _of_transformer(table: Any, changed: Mapping[str, str], where: str) -> Accelerator:
    """`read_accelerator` without a batch, which is the transformer's own."""
    if "batch" in changed or (isinstance(table, Mapping) and "batch" in table):
        raise InputError(f"{where}: accelerator: the batch of a transformer is a field of its own, such as llama3-8b:batch=8")
    return read_accelerator(table, changed, where)


def _of_shapes(name: str, shapes: list[Shape], array: Accelerator, source: str) -> Workload:
    return Workload(
        name, Loop.DATA, array.clock_hertz, layers_of(shapes, array), source, samples=array.batch, accelerator=array.title
    )


def _no_accelerator(changed: Mapping[str, str], where: str) -> None:
    if changed:
        named = ", ".join(value if field == NAME else field for field, value in changed.items())
        raise InputError(f"{where} has cycles, not shapes; accelerator {named} does not apply")


def _shape(found: Fields, number: int, row: Any) -> Shape:
    if not isinstance(row, list) or len(row) != len(_SHAPE) or not isinstance(row[0], str):
        found.refuse(f"shapes {number}: expected a list of {', '.join(_SHAPE)}")
    entry = found.inner(dict(zip(_SHAPE, row, strict=True)), f"shapes {number}")
    sizes = [entry.whole(name, 1, _LARGEST) for name in _SHAPE[1:]]
    return checked_shape(Shape(row[0], *sizes), entry)


def checked_shape(shape: Shape, entry: Fields) -> Shape:
    """The shape, unless its filter is larger than its input."""
    if shape.filter_height > shape.height or shape.filter_width > shape.width:
        entry.refuse(
            f"a filter of {shape.filter_height}x{shape.filter_width} is larger than the input of {shape.height}x{shape.width}"
        )
    return shape


def _layer(entry: Fields) -> Layer:
    return Layer(
        name=entry.text("name"),
        forward=_part(entry, "forward"),
        input_gradient=_part(entry, "input_gradient"),
        weight_gradient=_part(entry, "weight_gradient"),
        update_cycles=entry.whole("update_cycles", 0, MOST, default=0),
    )


def _part(entry: Fields, name: str) -> Part:
    part = entry.table_of(name, {}).only(optional=("cycles", "collective", "bytes", "demand", "group"))
    cycles = part.whole("cycles", 0, MOST, default=0)
    if "collective" not in part:
        for other in ("bytes", "demand", "group"):
            if other in part:
                part.refuse(f"{other} without a collective")
        return Part(cycles)
    kind, group = part.choice("collective", [*map(str, CollectiveKind), ALLTOALLV]), part.text("group", default=EVERYWHERE)
    if kind == ALLTOALLV:
        return Part(cycles, _exchange(part, group))
    if "demand" in part:
        part.refuse(f"a demand is for {ALLTOALLV}, not for {kind}")
    return Part(cycles, Communication(CollectiveKind(kind), part.size("bytes"), group))


def _exchange(part: Fields, group: str) -> Communication:
    """The alltoallv of a part, whose demand states the bytes."""
    if "bytes" in part:
        part.refuse(f"the bytes of an {ALLTOALLV} are those of its demand")
    rows = part.entries("demand")
    for row in rows:
        if not isinstance(row, list) or len(row) != len(rows) or any(type(one) is not int or not 0 <= one <= MOST for one in row):
            part.refuse(f"demand has the row {short(row)}; expected {len(rows)} whole bytes, as many as there are rows")
    found = alltoallv(tuple(map(tuple, rows)), group)
    if not 0 < found.bytes <= MOST:
        part.refuse(f"demand is {found.bytes} bytes for other endpoints; allowed: 1 to {MOST}")
    return found


def workload_document(workload: Workload) -> dict[str, Any]:
    """The workload with the cycles of each layer as a plain object, which `read_workload` reads; InputError for a trace."""
    if workload.loop is Loop.TRACE:
        raise InputError(f"{workload.name}: the workload of a trace has no file of its own; take the trace")
    document: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "name": workload.name,
        "source": workload.source,
        "loop": str(workload.loop),
        "clock_hertz": str(Fraction(workload.clock_hertz)),
    }
    optional = {"samples": workload.samples, "last_bottom": workload.last_bottom}
    document |= {name: value for name, value in optional.items() if value is not None}
    document |= {"first_input_gradient": workload.first_input_gradient, "stages": workload.stages}
    document |= {"micro_batches": workload.micro_batches, "groups": dict(workload.groups)}
    document |= {"accelerator": workload.accelerator} if workload.accelerator else {}
    return document | {"layers": [_layer_document(layer) for layer in workload.layers]}


def _layer_document(layer: Layer) -> dict[str, Any]:
    parts = {"forward": layer.forward, "input_gradient": layer.input_gradient, "weight_gradient": layer.weight_gradient}
    documents = {name: _part_document(part) for name, part in parts.items()}
    return {"name": layer.name, **documents, "update_cycles": layer.update_cycles}


def _part_document(part: Part) -> dict[str, Any]:
    found = part.communication
    if found is None:
        return {"cycles": part.cycles}
    if found.demand:
        return {"cycles": part.cycles, "collective": ALLTOALLV, "demand": list(map(list, found.demand)), "group": found.group}
    return {"cycles": part.cycles, "collective": str(found.kind), "bytes": found.bytes, "group": found.group}
