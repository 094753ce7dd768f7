"""What every cost model has: parameters from a TOML file whose names carry their units, and costs term by term."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from fractions import Fraction
from importlib import resources
from pathlib import Path
from typing import Any, ClassVar, Protocol

from certree.models.cost.counting import Counts
from certree.models.errors import InputError
from certree.models.files import check_format, read_bytes
from certree.models.registry import Registry, import_folder

VERSION = 1
NUMBER = re.compile(r"[0-9]{1,20}(\.[0-9]{1,20})?(e[+-]?[0-9]{1,3})?", re.ASCII)


@dataclass(frozen=True)
class Term:
    """One part of a cost: the `symbol` of its parameter, what that is, and the exact time."""

    symbol: str
    what: str
    seconds: Fraction


@dataclass(frozen=True)
class Cost:
    """What something takes, term by term."""

    terms: tuple[Term, ...]

    @property
    def seconds(self) -> Fraction:
        """The sum of all terms."""
        return sum((term.seconds for term in self.terms), Fraction(0))


class CostModel(Protocol):
    """The parameters of one model; a registered class reads itself from a document and prices what schedules do."""

    @property
    def name(self) -> str:
        """What the parameters are called."""

    @classmethod
    def from_document(cls, document: Mapping[str, Any], where: str) -> "CostModel":
        """The model from a TOML document without `format` and `version`; InputError names the field that is wrong."""

    def cost(self, counts: Counts, message_bytes: int) -> Cost:
        """The time of a counted schedule for a message of so many bytes."""


#: model name -> class; a parameter file names its model as format = "certree-NAME"
COST_MODELS: Registry[type[CostModel]] = Registry("cost model")


def load_models() -> Registry[type[CostModel]]:
    """The registry, with every module of `certree.models.cost` imported."""
    import_folder("certree.models.cost")
    return COST_MODELS


def presets() -> list[str]:
    """Names of the parameter files that come with certree."""
    folder = resources.files("certree.models.cost") / "presets"
    return sorted(entry.name.removesuffix(".toml") for entry in folder.iterdir() if entry.name.endswith(".toml"))


def load_parameters(name: str) -> CostModel:
    """A preset by name, or a TOML file; its format says of which model. InputError says what is wrong, and where."""
    if name in presets():
        data = (resources.files("certree.models.cost") / "presets" / f"{name}.toml").read_bytes()
    elif name.endswith(".toml"):
        data = read_bytes(Path(name))
    else:
        raise InputError(f"unknown cost parameters {name!r}; allowed: {', '.join(presets())}, or a file ending in .toml")
    try:
        document = tomllib.loads(data.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{name} is not TOML: {error}") from None
    models = load_models()
    model = str(document.get("format", "")).removeprefix("certree-")
    if model not in models or not str(document.get("format", "")).startswith("certree-"):
        known = ", ".join(f'"certree-{entry}"' for entry in models)
        raise InputError(f"{name}: format is {document.get('format')!r}; the cost models have {known}")
    check_format(document, f"certree-{model}", VERSION, name)
    if not isinstance(document.get("name"), str):
        raise InputError(f"{name}: name must be a string")
    return models[model].from_document({key: value for key, value in document.items() if key not in ("format", "version")}, name)


def model_name(model: CostModel) -> str:
    """The name that the model of these parameters is registered under."""
    return next(name for name in COST_MODELS if COST_MODELS[name] is type(model))


class Flat:
    """A model whose parameters are rationals, one field each, in the top level of its file. `whole_numbers` are those from 1 on;
    `rates` must not be 0."""

    whole_numbers: ClassVar[Sequence[str]] = ()
    rates: ClassVar[Sequence[str]] = ()

    @classmethod
    def from_document(cls, document: Mapping[str, Any], where: str) -> Any:
        """The model of a document."""
        rest = {key: value for key, value in document.items() if key != "name"}
        least = dict.fromkeys(cls.whole_numbers, 1)
        return cls(name=document["name"], **read_fields(rest, cls, where, least, cls.rates))  # type: ignore[call-arg]


def read_fields(
    table: Any,
    kind: type[Any],
    where: str,
    least: Mapping[str, int],
    positive: Sequence[str] = (),
    besides: Sequence[str] = ("name",),
) -> dict[str, Any]:
    """The fields of a dataclass but those `besides`, from a table. Those in `least` are whole numbers from there on, others
    strings of rationals from 0 on, or above 0 where they are in `positive`. InputError for what is missing, unknown or out of
    range."""
    if not isinstance(table, Mapping):
        raise InputError(f"{where} is {table!r}; expected a table")
    entries = [entry for entry in fields(kind) if entry.name not in besides]
    names = {entry.name for entry in entries}
    needed = {entry.name for entry in entries if entry.default is MISSING}
    missing, unknown = sorted(needed - table.keys()), sorted(table.keys() - names)
    if missing or unknown:
        told = [f"{' and '.join(missing)} missing"] if missing else []
        told += [f"unknown: {', '.join(unknown)}"] if unknown else []
        raise InputError(f"{where}: {'; '.join(told)}; the fields, with their units, are {', '.join(sorted(names))}")
    return {name: _value(name, value, where, least, name in positive) for name, value in table.items()}


def _value(name: str, value: Any, where: str, least: Mapping[str, int], positive: bool) -> int | Fraction:
    if name in least:
        if type(value) is not int or value < least[name]:
            raise InputError(f"{where}: {name} is {value!r}; expected a whole number from {least[name]}")
        return value
    number = Fraction(value) if isinstance(value, str) and NUMBER.fullmatch(value) else None
    if number is None or (positive and not number):
        raise InputError(f'{where}: {name} is {value!r}; expected a string such as "6.4e-9", {"above" if positive else "from"} 0')
    return number
