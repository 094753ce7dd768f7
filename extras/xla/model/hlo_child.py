"""The process that reads StableHLO with the parser of jaxlib: `python hlo_child.py FILE`, a document of JSON to standard output.

The parser does not survive every damaged file, so that it has a process of its own. It imports nothing of certree. The document has
the functions, meshes and counts of the module, or under `error` what is wrong, in one line.
"""

import base64
import json
import re
import sys
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

Document = dict[str, Any]
BYTECODE = b"ML\xefR"
MOST_BLOCKS = 100
_LISTS = {
    "broadcast_dimensions", "dimensions", "edge_padding_high", "edge_padding_low", "interior_padding", "limit_indices",
    "permutation", "slice_sizes", "start_indices", "strides",
}  # fmt: skip
_WORDS = {"callee", "call_target_name"}
_NUMBERS = {"dimension", "iota_dimension"}
_DIMENSIONS = {
    "dimension_numbers": (
        "GatherDimensionNumbers",
        ("offset_dims", "collapsed_slice_dims", "operand_batching_dims", "start_indices_batching_dims", "start_index_map"),
    ),
    "scatter_dimension_numbers": (
        "ScatterDimensionNumbers",
        (
            "update_window_dims",
            "inserted_window_dims",
            "input_batching_dims",
            "scatter_indices_batching_dims",
            "scattered_dims_to_operand_dims",
        ),
    ),
}


class RefusedError(Exception):
    """A module that is refused, with the reason."""


def context() -> Any:
    """A context of MLIR with the dialects of jaxlib."""
    from jaxlib.mlir import ir
    from jaxlib.mlir._mlir_libs import _jax_mlir_ext
    from jaxlib.mlir.dialects import sdy, stablehlo

    registry = ir.DialectRegistry()
    _jax_mlir_ext.register_dialects(registry)
    found = ir.Context()
    found.append_dialect_registry(registry)
    found.load_all_available_dialects()
    stablehlo.register_dialect(found)
    sdy.register_dialect(found)
    return found


def document_of(data: bytes) -> Document:
    """The document of a module, in text or bytecode; a portable artefact, as `jax.export` writes it, is bytecode, too."""
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import sdy, stablehlo

    with context() as known:
        try:
            parsed: Any = ir.Module.parse(data)
        except (ir.MLIRError, ValueError, RuntimeError) as error:
            parsed = _portable(stablehlo, known, data) if data.startswith(BYTECODE) else None
            if parsed is None:
                return {"error": _told(str(error))}
        try:
            return _Reader(ir, sdy, stablehlo).module(parsed)
        except RefusedError as error:
            return {"error": str(error)}


def _portable(stablehlo: Any, context: Any, data: bytes) -> Any:
    """The module of a portable artefact; None for anything else."""
    try:
        return stablehlo.deserialize_portable_artifact(context, data)
    except Exception:  # the binding raises whatever it has
        return None


def _told(text: str) -> str:
    """The first line in which the parser says what is wrong."""
    found = re.search(r'error: (?:"[^"]*":([0-9]+):[0-9]+: )?(.*)', text)
    if found is None:
        return _short(text.partition("\n")[0])
    return f"line {found[1]}: {_short(found[2])}" if found[1] else _short(found[2])


def _short(text: str) -> str:
    """A text in one line, not too long."""
    clean = "".join(letter if letter.isprintable() else "?" for letter in text)
    return clean if len(clean) <= 150 else f"{clean[:150]}..."


class _Reader:
    """Turns the objects of jaxlib into plain ones."""

    def __init__(self, ir: Any, sdy: Any, stablehlo: Any) -> None:
        self.ir, self.sdy, self.stablehlo = ir, sdy, stablehlo
        self._numbers: dict[Any, int] = {}
        self._next = count()
        self._depth = 0
        self._is_manual = False

    def module(self, parsed: Any) -> Document:
        """The document of a module."""
        functions: list[Document] = []
        meshes: Document = {}
        public = []
        for one in parsed.body.operations:
            operation = one.operation
            if operation.name == "func.func":
                functions.append(self._function(operation))
                if self._word(operation, "sym_visibility") != "private":
                    public.append(functions[-1]["name"])
            elif operation.name == "sdy.mesh":
                meshes[self._word(operation, "sym_name")] = self._mesh(operation)
            else:
                raise RefusedError(f"{self._where(operation)}: {operation.name} outside of functions is not known")
        if len(public) != 1:
            raise RefusedError(f"{len(public)} public functions; expected one, which all devices execute")
        if not self._is_manual:
            self._require_whole(parsed, public[0])
        counts = [self._count(parsed.operation, name) for name in ("mhlo.num_partitions", "mhlo.num_replicas")]
        return {"functions": functions, "meshes": meshes, "counts": counts, "main": public[0]}

    def _require_whole(self, parsed: Any, name: str) -> None:
        """Raise RefusedError where an argument or a result of a function has a sharding: then XLA cuts the arrays."""
        for one in parsed.body.operations:
            if self._word(one.operation, "sym_name") == name:
                for kind in ("arg_attrs", "res_attrs"):
                    if kind in one.operation.attributes and ".sharding" in str(one.operation.attributes[kind]):
                        raise RefusedError(f"{self._where(one.operation)}: arrays with a sharding, which XLA cuts, without a mesh")

    def _function(self, operation: Any) -> Document:
        if len(operation.regions[0].blocks) != 1:
            raise RefusedError(f"{self._where(operation)}: a function without a body, or of several blocks")
        block = operation.regions[0].blocks[0]
        types = [self._type(one.type, self._where(operation)) for one in block.arguments]
        return {"name": self._word(operation, "sym_name"), "types": types, "body": self._block(block)}

    def _block(self, block: Any) -> list[Any]:
        if self._depth >= MOST_BLOCKS:
            raise RefusedError(f"more than {MOST_BLOCKS} blocks in blocks")
        self._depth += 1
        arguments = [self._number(one) for one in block.arguments]
        operations = [self._operation(one.operation) for one in block.operations]
        self._depth -= 1
        return [arguments, operations]

    def _operation(self, operation: Any) -> list[Any]:
        where, name = self._where(operation), operation.name
        attributes = {one: self._attribute(operation, one) for one in operation.attributes if self._matters(one)}
        if name == "stablehlo.constant":
            attributes["value"] = self._constant(operation, where)
        if name == "sdy.manual_computation":
            attributes |= self._manual(operation)
            self._is_manual = True
        blocks = [list(region.blocks) for region in operation.regions]
        if any(len(found) != 1 for found in blocks):
            raise RefusedError(f"{where}: {name} has a region of several blocks, or an empty one")
        return [
            name,
            where,
            [self._number(one) for one in operation.operands],
            [self._number(one) for one in operation.results],
            [self._type(one.type, where) for one in operation.results],
            attributes,
            [self._block(found[0]) for found in blocks],
        ]

    def _number(self, value: Any) -> int:
        if value not in self._numbers:
            self._numbers[value] = next(self._next)
        return self._numbers[value]

    def _type(self, found: Any, where: str) -> list[Any]:
        text = str(found)
        if not isinstance(found, self.ir.RankedTensorType) or not found.has_static_shape:
            raise RefusedError(f"{where}: type {_short(text)}; expected a tensor with a static shape")
        return [list(found.shape), str(found.element_type)]

    def _where(self, operation: Any) -> str:
        """The line in the text, or what the file says of where the operation came from, or its number."""
        location = operation.location
        text = str(location)
        found = re.fullmatch(r'loc\("-":([0-9]+):[0-9]+\)', text)
        if found:
            return f"line {found[1]}"
        named = re.search(r'"([^"]*)":([0-9]+)', text)
        return f"{named[1].rsplit('/', 1)[-1]}:{named[2]}" if named else f"operation {len(self._numbers)}"

    @staticmethod
    def _matters(name: str) -> bool:
        return name in _LISTS or name in _WORDS or name in _NUMBERS or name in _DIMENSIONS or name in _OTHERS

    def _attribute(self, operation: Any, name: str) -> Any:
        found = operation.attributes[name]
        if name in _LISTS:
            return [int(one) for one in found]
        if name in _WORDS:
            return found.value
        if name in _NUMBERS:
            return int(found.value)
        if name in _DIMENSIONS:
            kind, lists = _DIMENSIONS[name]
            if operation.name not in ("stablehlo.gather", "stablehlo.scatter"):
                return None
            numbers = getattr(self.stablehlo, kind)(found)
            return {one: list(getattr(numbers, one)) for one in lists} | {"index_vector_dim": int(numbers.index_vector_dim)}
        if name == "source_target_pairs":
            return np.array(found).reshape(-1, 2).tolist()
        if name == "channel_handle":
            number = re.search(r"handle = (-?[0-9]+)", str(found))
            return int(number[1]) if number else 0
        word = re.search(r"([A-Z_]+)>$", str(found))
        return word[1] if word else str(found)

    def _constant(self, operation: Any, where: str) -> Document:
        """The numbers of a constant: a splat, or type, shape and text in base 64; of floating-point numbers in double precision."""
        shape, element = self._type(operation.results[0].type, where)
        try:
            value = operation.attributes["value"]
            if not value.is_splat:
                numbers = np.array(value)
                return {"type": numbers.dtype.str, "text": base64.b64encode(np.ascontiguousarray(numbers).tobytes()).decode()}
            if element == "i1":
                return {"splat": int(np.array(value).reshape(-1)[0])}
            found = value.get_splat_value().value
            return {"splat": found if isinstance(found, int) else float(found).hex()}
        except (TypeError, ValueError, AttributeError):
            # of some types the bindings give nothing; a splat can be read from the text
            text = re.search(r"dense<\(?([-+.0-9eE]+)(?:,\s*([-+.0-9eE]+)\))?> : tensor", str(operation))
            if text is None:
                shown = "".join(f"{size}x" for size in shape)
                raise RefusedError(
                    f"{where}: a constant of type tensor<{shown}{element}>, whose numbers jaxlib does not give"
                ) from None
            return {"splat": float(text[1]).hex()} if text[2] is None else {"splat": [float(one).hex() for one in text.groups()]}

    def _word(self, operation: Any, name: str) -> str:
        return str(operation.attributes[name].value) if name in operation.attributes else ""

    def _count(self, operation: Any, name: str) -> int:
        return int(operation.attributes[name].value) if name in operation.attributes else 1

    def _mesh(self, operation: Any) -> list[Any]:
        mesh = self.sdy.MeshAttr(operation.attributes["mesh"])
        devices = list(mesh.device_ids)
        if devices not in ([], sorted(devices)):
            raise RefusedError(f"{self._where(operation)}: a mesh whose devices have another order than their numbers")
        return [[one.name, int(one.size)] for one in map(self.sdy.MeshAxisAttr, mesh.axes)]

    def _manual(self, operation: Any) -> Document:
        """The mesh of each operand and result with, by dimension, the axes along which it is cut; and the axes of the
        computation."""
        found: Document = {"manual_axes": list(self.sdy.ManualAxesAttr(operation.attributes["manual_axes"]))}
        for name in ("in_shardings", "out_shardings"):
            values = self.sdy.TensorShardingPerValueAttr(operation.attributes[name]).shardings
            found[name] = [self._sharding(self.sdy.TensorShardingAttr(one)) for one in values]
        return found

    def _sharding(self, sharding: Any) -> list[Any]:
        if "unreduced" in re.sub(r'"[^"]*"', "", str(sharding)):
            raise RefusedError(f"an array that is left to XLA to add up: {_short(str(sharding))}")
        if "(" in str(sharding):
            raise RefusedError(f"axes of a mesh in parts: {_short(str(sharding))}")
        dimensions = map(self.sdy.DimensionShardingAttr, sharding.dimension_shardings)
        axes = [[self.sdy.AxisRefAttr(axis).name for axis in one.axes] for one in dimensions]
        return [str(sharding.mesh_or_ref).removeprefix("@"), axes]


_OTHERS = {"source_target_pairs", "channel_handle", "comparison_direction", "compare_type"}


def main(path: Path) -> None:
    """Print the document of a file."""
    sys.stdout.write(json.dumps(document_of(path.read_bytes())))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
