"""What every cost model has: parameters from a TOML file whose names carry their units, and costs term by term."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Protocol

from certree.models.common.errors import InputError
from certree.models.common.fields import read_fields
from certree.models.common.files import check_format
from certree.models.common.presets import Presets
from certree.models.common.registry import Registry, import_folder
from certree.models.cost.counting import Counts

VERSION = 1
COST_PARAMETERS = Presets("certree.models.cost", "presets", "cost parameters")


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
    """The registry, with every module of `certree.models.cost.models` imported."""
    import_folder("certree.models.cost.models")
    return COST_MODELS


def load_parameters(name: str) -> CostModel:
    """A preset by name, or a TOML file; its format says of which model. InputError says what is wrong, and where."""
    document = COST_PARAMETERS.load(name)
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
