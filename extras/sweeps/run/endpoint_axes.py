"""Axes of a sweep for endpoints: systems, and for engines the bytes of SRAM and the number of state machines."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from certree.api.runs.simulation import NO_ENDPOINT
from certree.extras.endpoints.model.endpoint import ENDPOINTS, Endpoint, Runs, endpoint_of_document
from certree.extras.endpoints.model.named_system import named_system
from certree.models.common.errors import located
from certree.models.common.fields import Fields

DEFAULT_PARAMS = "ace"


@dataclass(frozen=True, slots=True)
class EndpointChoice:
    """A value on these axes. `sram`, `state_machines`: in place of those of the parameters; None: as there, or no engine."""

    endpoint: str = NO_ENDPOINT
    sram: int | None = None
    state_machines: int | None = None

    @property
    def system(self) -> str:
        """The name of the system, as `simulate --endpoint` takes it."""
        sizes = {"sram": self.sram, "state-machines": self.state_machines}
        return self.endpoint + "".join(f":{name}={value}" for name, value in sizes.items() if value is not None)

    @property
    def names(self) -> dict[str, str]:
        """The text of the value on each axis, empty where there is none."""
        values = {"endpoint": self.endpoint, "sram": self.sram, "state_machines": self.state_machines}
        return {axis: "" if value is None else str(value) for axis, value in values.items()}


@dataclass(frozen=True)
class EndpointAxes:
    """All values, and the parameters of endpoints, as a document that workers receive; None where no cell has endpoints."""

    choices: tuple[EndpointChoice, ...]
    document: Mapping[str, Any] | None


def endpoint_axes(fields: Fields, sizes: tuple[int, ...], machines: tuple[int, ...]) -> EndpointAxes:
    """The fields `endpoints` and `endpoint_params`, with the values of `sram` and `state_machines`, one cell for each combination
    of a system with an engine. InputError for a system that is unknown, and for sizes where no system has an engine."""
    texts = fields.texts("endpoints", default=[NO_ENDPOINT])
    params = fields.text("endpoint_params", default=DEFAULT_PARAMS)
    if all(text == NO_ENDPOINT for text in texts):
        for name in ("endpoint_params", "sram", "state_machines"):
            if name in fields:
                fields.refuse(f'{name} is for endpoints; name systems, such as endpoints = ["ace:chunk=64KiB"]')
        return EndpointAxes((EndpointChoice(),), None)
    with located(f"{fields.where}: endpoints"):
        document = ENDPOINTS.load(params)
        endpoint = endpoint_of_document(document, params)
        found = [choice for text in texts for choice in _choices(text, endpoint, sizes, machines)]
    if (sizes or machines) and all(choice.names["sram"] == choice.names["state_machines"] == "" for choice in found):
        fields.refuse("sram and state_machines are for systems with an engine, and none of endpoints has one")
    return EndpointAxes(tuple(found), document)


def _choices(text: str, endpoint: Endpoint, sizes: tuple[int, ...], machines: tuple[int, ...]) -> list[EndpointChoice]:
    if text == NO_ENDPOINT or named_system(text, endpoint).system.runs is not Runs.ENGINE:
        return [EndpointChoice(text)]
    found = [EndpointChoice(text, *sized) for sized in product(sizes or (None,), machines or (None,))]
    for choice in found:
        named_system(choice.system, endpoint)
    return found
