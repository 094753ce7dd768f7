"""JSON schemas of the documents that `--json` prints, from their forms (`certree.api.reports.documents`)."""

from typing import Any

from certree.api.reports.documents import DOCUMENTS, PARTS, VERSION

RATIONAL = r"^-?[0-9]+(/[1-9][0-9]*)?$"
_BASE: dict[str, dict[str, Any]] = {
    "text": {"type": "string"},
    "bool": {"type": "boolean"},
    "count": {"type": "integer", "minimum": 0},
    "number": {"type": "number"},
    "rational": {"type": "string", "pattern": RATIONAL},
    "any": {},
}
_DRAFT = "https://json-schema.org/draft/2020-12/schema"
ERROR = {
    "$schema": _DRAFT,
    "$id": f"urn:certree:certree-error:{VERSION}",
    "type": "object",
    "properties": {
        "format": {"const": "certree-error"},
        "version": {"const": VERSION},
        "error": _BASE["text"],
        "kind": _BASE["text"],
    },
    "required": ["format", "version", "error", "kind"],
}


def document_schemas() -> dict[str, dict[str, Any]]:
    """The JSON schema of each kind of document, by the `format` that it carries; `certree-error` is that of a failed command.

    >>> sorted(document_schemas()["certree-export-report"]["required"])[:3]
    ['arrival_bits', 'chunk_bytes', 'encoding']
    """
    found = {"certree-error": ERROR}
    for kind, form in DOCUMENTS.items():
        name = f"certree-{kind}-report"
        schema = _object(form)
        schema["properties"] = {"format": {"const": name}, "version": {"const": VERSION}, **schema["properties"]}
        schema["required"] = ["format", "version", *schema["required"]]
        found[name] = {"$schema": _DRAFT, "$id": f"urn:certree:{name}:{VERSION}", **schema}
    return found


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
    return _BASE[kind] if kind in _BASE else _object(PARTS[kind])
