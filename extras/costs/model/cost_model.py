"""The interface of cost models: parameters from a TOML file whose names carry their units, and costs term by term."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from certree.extras.costs.model.counting import Counts
from certree.models.common.errors import InputError
from certree.models.common.extras import import_plug_ins
from certree.models.common.fields import Fields
from certree.models.common.presets import Presets
from certree.models.common.registry import Registry, import_folder

VERSION = 1
COST_PARAMETERS = Presets("certree.extras.costs.model", "presets", "cost parameters")


@dataclass(frozen=True)
class Term:
    """One part of a cost: the `symbol` of its parameter, its description, and the exact time."""

    symbol: str
    what: str
    seconds: Fraction


@dataclass(frozen=True)
class Cost:
    """A cost, term by term."""

    terms: tuple[Term, ...]

    @property
    def seconds(self) -> Fraction:
        """The sum of all terms."""
        return sum((term.seconds for term in self.terms), Fraction(0))


class CostModel(Protocol):
    """The parameters of one model; a registered dataclass is read by `Fields.read` and times schedules."""

    @property
    def name(self) -> str:
        """The name of the parameters."""

    def cost(self, counts: Counts, message_bytes: int) -> Cost:
        """The time of a counted schedule for a message of `message_bytes`."""


#: model name -> class; a parameter file names its model as format = "certree-NAME"
COST_MODELS: Registry[type[CostModel]] = Registry("cost model")


def load_models() -> Registry[type[CostModel]]:
    """The registry, with every module of `certree.extras.costs.model.formulas`, and those of plug-ins, imported."""
    import_folder("certree.extras.costs.model.formulas")
    import_plug_ins("cost models")
    return COST_MODELS


def load_parameters(name: str) -> CostModel:
    """A preset by name, or a TOML file, whose format names the model. InputError states the fault and its place."""
    document = COST_PARAMETERS.load(name)
    models = load_models()
    model = str(document.get("format", "")).removeprefix("certree-")
    if model not in models or not str(document.get("format", "")).startswith("certree-"):
        known = ", ".join(f'"certree-{entry}"' for entry in models)
        raise InputError(f"{name}: format is {document.get('format')!r}; the cost models have {known}")
    return Fields.of_format(document, f"certree-{model}", VERSION, name).read(models[model])


def model_name(model: CostModel) -> str:
    """The name that the model of these parameters is registered under."""
    return next(name for name in COST_MODELS if COST_MODELS[name] is type(model))
