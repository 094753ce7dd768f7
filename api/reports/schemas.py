"""JSON schemas of the documents that `--json` prints, from their forms (`certree.api.reports.documents`)."""

import re
from typing import Annotated, Any

from certree.api.reports.documents import DOCUMENTS, PARTS, VERSION
from certree.models.common.extras import import_plug_ins
from certree.models.common.fields import FromZero
from certree.models.schemas.form import DRAFT, value_schema

_BASE: dict[str, Any] = {
    "text": str,
    "bool": bool,
    "count": FromZero,
    "number": float,
    "rational": Annotated[str, re.compile("-?[0-9]+(/[1-9][0-9]*)?")],
    "any": Any,
}


def document_schemas() -> dict[str, dict[str, Any]]:
    """The JSON schema of each kind of document, by the `format` that it carries; `certree-error` is that of a failed command.

    >>> sorted(document_schemas()["certree-export-report"]["required"])[:3]
    ['arrival_bits', 'chunk_bytes', 'encoding']
    """
    import_plug_ins("documents")
    reports = {f"certree-{kind}-report": form for kind, form in DOCUMENTS.items()}
    return {name: _document(name, form) for name, form in {"certree-error": "error kind: text", **reports}.items()}


def _document(name: str, form: str) -> dict[str, Any]:
    found = _object(form)
    head = {"format": {"const": name}, "version": {"const": VERSION}}
    return {
        "$schema": DRAFT,
        "$id": f"urn:certree:{name}:{VERSION}",
        "type": "object",
        "properties": head | found["properties"],
        "required": [*head, *found["required"]],
    }


def _object(form: str) -> dict[str, Any]:
    """The schema of an object with the keys of a form."""
    properties: dict[str, Any] = {}
    required = []
    for line in form.split("\n"):
        names, colon, kind = line.strip().partition(": ")
        if colon:
            for name in names.split():
                properties[name.removesuffix("?")] = _value(kind)
                required += [] if name.endswith("?") else [name]
    return {"type": "object", "properties": properties, "required": required}


def _value(kind: str) -> dict[str, Any]:
    """The schema of a value of a type, as the docstring of `documents` has them."""
    if kind.endswith("?"):
        return {"anyOf": [_value(kind[:-1]), {"type": "null"}]}
    if kind.startswith("["):
        return {"type": "array", "items": _value(kind[1:-1])}
    if kind.startswith("{"):
        return {"type": "object", "additionalProperties": _value(kind[1:-1])}
    return value_schema(_BASE[kind]) if kind in _BASE else _object(PARTS[kind])
