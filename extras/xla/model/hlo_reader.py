"""StableHLO, text and bytecode, read with the parser of jaxlib, which has a process of its own (`hlo_child`)."""

import base64
import binascii
import importlib.util
import json
import re
from math import prod
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from certree.extras.xla.model.child_process import OvertimeError, run_script
from certree.extras.xla.model.hlo import HloBlock, HloFunction, HloMesh, HloModule, HloOperation, HloType
from certree.extras.xla.model.hlo_child import BYTECODE
from certree.models.common.errors import InputError, ToolMissingError, short

MOST_AXES = 24  # numpy has 64, and a gather has those of indices and parts
MOST_ELEMENTS = 1 << 40
MOST_NESTED = 200  # brackets in brackets; the parser recurses
SECONDS = 120  # of the process
_OPEN = b"([{<"


def require_jaxlib() -> None:
    """Raise ToolMissingError where JAX is not installed."""
    if importlib.util.find_spec("jaxlib") is None:
        raise ToolMissingError("JAX is not installed, whose parser reads StableHLO; pip install 'certree[jax]'")


def read_hlo(data: bytes, where: str) -> HloModule:
    """The module in a file. InputError, one line, for what the parser refuses, shapes that are not static, and a module without
    a public function; ToolMissingError where JAX is not installed."""
    require_jaxlib()
    if not data.startswith(BYTECODE):
        require_text(data, where)
    with TemporaryDirectory() as temporary:
        file = Path(temporary) / "module"
        file.write_bytes(data)
        try:
            done = run_script("certree.extras.xla.model:hlo_child.py", file, SECONDS)
        except OvertimeError:
            raise InputError(f"{where}: the parser of jaxlib takes more than {SECONDS} s") from None
    if done.returncode:
        raise InputError(f"{where}: damaged; the parser of jaxlib ends with code {done.returncode} and does not say where")
    return module_of(json.loads(done.stdout), where)


def module_of(document: dict[str, Any], where: str) -> HloModule:
    """The module of a document of `hlo_child`; InputError where that says an error."""
    if "error" in document:
        raise InputError(f"{where}: {document['error']}")
    found = [
        HloFunction(one["name"], _types(one["types"], f"{where}: function {one['name']}"), _block(one["body"]))
        for one in document["functions"]
    ]
    meshes = {name: HloMesh(tuple((axis, size) for axis, size in axes)) for name, axes in document["meshes"].items()}
    partitions, replicas = document["counts"]
    return HloModule({one.name: one for one in found}, meshes, partitions, replicas, document["main"])


def require_text(data: bytes, where: str) -> None:
    """Raise InputError for bytes that are not text, and for brackets that are nested too deep."""
    try:
        is_text = "\0" not in data.decode()
    except UnicodeDecodeError:
        is_text = False
    if not is_text:
        raise InputError(f"{where}: neither the text nor the bytecode of a module")
    depth = deepest = 0
    for found in re.finditer(rb'"[^"\n]*"|->|=>|[(\[{<>}\])]', data):
        letter = found[0]
        if letter in (b"->", b"=>") or letter.startswith(b'"'):
            continue
        depth += 1 if letter in _OPEN else -1
        deepest = max(deepest, depth)
    if deepest > MOST_NESTED:
        raise InputError(f"{where}: brackets are nested {deepest} deep; allowed: {MOST_NESTED}")


def _types(found: list[Any], where: str) -> tuple[HloType, ...]:
    types = tuple(HloType(tuple(shape), element) for shape, element in found)
    for one in types:
        if len(one.shape) > MOST_AXES or prod(max(size, 1) for size in one.shape) > MOST_ELEMENTS:
            raise InputError(
                f"{where}: {short(str(one))}; supported are tensors of {MOST_AXES} axes and {MOST_ELEMENTS:,} elements at most"
            )
    return types


def _block(found: list[Any]) -> HloBlock:
    arguments, operations = found
    return HloBlock(tuple(arguments), tuple(_operation(*one) for one in operations))


def _operation(
    name: str, where: str, operands: list[int], results: list[int], types: list[Any], attributes: dict[str, Any], blocks: list[Any]
) -> HloOperation:
    kinds = _types(types, where)
    plain = {key: _tuples(value) for key, value in attributes.items()}
    if name == "stablehlo.constant":
        plain["value"] = _constant(attributes["value"], kinds[0], where)
    return HloOperation(name, where, tuple(operands), tuple(results), kinds, plain, tuple(map(_block, blocks)))


def _tuples(value: Any) -> Any:
    """The value with tuples for lists."""
    if isinstance(value, dict):
        return {key: _tuples(one) for key, one in value.items()}
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _constant(value: dict[str, Any], kind: HloType, where: str) -> Any:
    if "splat" not in value:
        try:
            return np.frombuffer(base64.b64decode(value["text"]), value["type"]).reshape(kind.shape)
        except (ValueError, TypeError, binascii.Error):
            raise InputError(f"{where}: a constant of type {kind}, whose numbers jaxlib does not give") from None
    splat = value["splat"]
    if isinstance(splat, list):
        splat = complex(*map(float.fromhex, splat))
    return np.broadcast_to(np.array(float.fromhex(splat) if isinstance(splat, str) else splat), kind.shape)
