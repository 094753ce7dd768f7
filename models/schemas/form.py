"""JSON schemas of documents, from the annotations of TypedDicts and of dataclasses that `Fields.read` reads.

A value is an int, float, bool, str, exact number (Fraction), Literal, Enum, list, tuple, dict, another such class, None, or a union
of these. `Annotated` adds `Limits` of a number, `Entries` of a list, a pattern of a text, `Since`, and a text that describes it.
"""

import inspect
import re
import types
from collections.abc import Callable, Iterator
from dataclasses import MISSING, dataclass, fields, is_dataclass
from enum import Enum
from fractions import Fraction
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    Required,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from certree.models.common.fields import Limits

T = TypeVar("T")
Schema = dict[str, Any]
DRAFT = "https://json-schema.org/draft/2020-12/schema"
_PLAIN: dict[Any, Schema] = {
    Any: {},
    bool: {"type": "boolean"},
    float: {"type": "number"},
    Fraction: {"type": "string", "pattern": "^[0-9]+(/[1-9][0-9]*)?$"},
    int: {"type": "integer"},
    str: {"type": "string"},
    type(None): {"type": "null"},
}


@dataclass(frozen=True)
class Entries:
    """How many entries a list has, and whether they are distinct."""

    least: int = 0
    most: int | None = None
    distinct: bool = False


@dataclass(frozen=True)
class Since:
    """The version of the document from which on a field may be there, or must be where it is `needed`."""

    version: int
    needed: bool = False


@dataclass(frozen=True)
class Form:
    """The class of a document, the versions of its format, and whether its objects may have unknown keys."""

    name: str
    kind: type[Any]
    versions: tuple[int, ...]
    extensible: bool

    @property
    def urn(self) -> str:
        """The `$id` of its schema."""
        return f"urn:certree:{self.name}:1"

    def schema(self) -> Schema:
        """The JSON schema; the docstring of the class has its title and its description."""
        title, _, description = inspect.cleandoc(self.kind.__doc__ or "").partition("\n\n")
        found = object_schema(self.kind, extensible=self.extensible)
        head: Schema = {"format": {"const": f"certree-{self.name}"}, "version": {"enum": list(self.versions)}}
        if self.versions[1:]:
            head["version"]["description"] = "2 where a field of version 2 is there"
        found["properties"] = head | found["properties"]
        found["required"] = [*head, *found["required"]]
        words = {"title": title.rstrip(".")} | ({"description": description.replace("\n", " ")} if description else {})
        return {"$schema": DRAFT, "$id": self.urn, **words, **found, **_of_versions(self.kind)}


_FORMS: dict[type[Any], Form] = {}
_RULES: dict[type[Any], Schema] = {}


def form(name: str, *versions: int, extensible: bool = False) -> Callable[[type[T]], type[T]]:
    """Make the decorated class the form of documents `certree-NAME` of these versions (without: 1)."""

    def add(kind: type[T]) -> type[T]:
        _FORMS[kind] = Form(name, kind, versions or (1,), extensible)
        return kind

    return add


def ruled(**rules: Any) -> Callable[[type[T]], type[T]]:
    """State what the fields of a class have to do with each other, in the words of JSON Schema."""

    def add(kind: type[T]) -> type[T]:
        _RULES[kind] = rules
        return kind

    return add


def schemas_of_forms() -> dict[str, Schema]:
    """The JSON schemas of all forms in modules that are imported, by name."""
    return {one.name: one.schema() for one in _FORMS.values()}


def object_schema(kind: type[Any], *, extensible: bool = False) -> Schema:
    """The JSON schema of an object with the fields of a class."""
    hints = dict(_fields(kind))
    return {
        "type": "object",
        "required": [name for name in hints if name not in _optional(kind)],
        "properties": {name: value_schema(hint, extensible=extensible) for name, hint in hints.items()},
        **({} if extensible else {"additionalProperties": False}),
        **_RULES.get(kind, {}),
    }


def value_schema(hint: Any, *, extensible: bool = False) -> Schema:
    """The JSON schema of a value with this annotation; objects inside have unknown keys where they are `extensible`."""
    hint, *extras = _parts(hint)
    origin, inner = get_origin(hint), get_args(hint)
    below = [value_schema(one, extensible=extensible) for one in inner if one is not ...] if origin is not Literal else []
    found: Schema
    if hint in _FORMS:
        found = {"$ref": _FORMS[hint].urn}
    elif hint in _PLAIN:
        found = dict(_PLAIN[hint])
    elif origin is Literal:
        found = {"enum": list(inner)}
    elif origin in (types.UnionType, Union):
        listed = all("enum" in one for one in below)
        found = {"enum": [value for one in below for value in one["enum"]]} if listed else {"anyOf": below}
    elif origin is dict:
        found = {"type": "object", "additionalProperties": below[1]}
    elif origin is list or (origin is tuple and inner[-1] is ...):
        found = {"type": "array", "items": below[0]}
    elif origin is tuple:
        found = {"type": "array", "prefixItems": below, "minItems": len(inner), "maxItems": len(inner)}
    elif isinstance(hint, type) and issubclass(hint, Enum):
        found = {"enum": [*map(str, hint)]}
    else:
        found = object_schema(hint, extensible=extensible)
    for extra in extras if hint is not Fraction else ():
        found |= _extra(extra)
    return found


def _extra(extra: Any) -> Schema:
    if isinstance(extra, Limits):
        return {"minimum": extra.low} | ({} if extra.high is None else {"maximum": extra.high})
    if isinstance(extra, Entries):
        most = {} if extra.most is None else {"maxItems": extra.most}
        return {"minItems": extra.least} | most | ({"uniqueItems": True} if extra.distinct else {})
    if isinstance(extra, re.Pattern):
        return {"pattern": f"^({extra.pattern})$"}
    return {"description": extra} if isinstance(extra, str) else {}


def _parts(hint: Any) -> tuple[Any, ...]:
    """The annotation without `NotRequired` and `Annotated`, and what these add."""
    if get_origin(hint) in (Required, NotRequired):
        return _parts(*get_args(hint))
    return get_args(hint) if get_origin(hint) is Annotated else (hint,)


def _fields(kind: type[Any]) -> Iterator[tuple[str, Any]]:
    """The fields of a class and their annotations; `Fields.read` takes numbers from 1 and lists that are not empty."""
    for name, hint in get_type_hints(kind, include_extras=True).items():
        if is_dataclass(kind) and hint is int:
            yield name, Annotated[int, Limits(1)]
        elif is_dataclass(kind) and get_origin(hint) is tuple:
            yield name, Annotated[hint, Entries(1)]
        else:
            yield name, hint


def _optional(kind: type[Any]) -> set[str]:
    if is_typeddict(kind):
        return set(kind.__optional_keys__)
    return {one.name for one in fields(kind) if not (one.default is MISSING and one.default_factory is MISSING)}


def _of_versions(kind: type[Any]) -> Schema:
    """The rule that version 1 has no fields of version 2, and that version 2 has those that it needs."""
    since = {name: extra for name, hint in _fields(kind) for extra in _parts(hint) if isinstance(extra, Since)}
    needed = [name for name, one in since.items() if one.needed]
    barred = _barred(kind)
    if not barred:
        return {}
    return {"if": {"properties": {"version": {"const": 1}}}, "then": barred, **({"else": {"required": needed}} if needed else {})}


def _barred(kind: type[Any]) -> Schema:
    """The schema that refuses fields of version 2, in a class and in those below it."""
    found: Schema = {}
    for name, hint in _fields(kind):
        inner, *extras = _parts(hint)
        below = _barred(inner) if is_typeddict(inner) else {}
        if any(isinstance(extra, Since) for extra in extras):
            found[name] = False
        elif below:
            found[name] = below
    return {"properties": found} if found else {}
