"""Routers with the same number of endpoints each, or routers that are the endpoints."""

import re

import numpy as np
from numpy.typing import NDArray

from certree.models.common.errors import TopologyError
from certree.models.network.families.cabled.cables import Cables


def split_endpoints(family: str, arguments: str) -> tuple[str, int]:
    """("9x4x2", 2) of `9x4x2@2`; 0 endpoints to a router where none are given. TopologyError for anything but a whole number."""
    sizes, at, text = arguments.partition("@")
    if at and not re.fullmatch("[1-9][0-9]{0,5}", text):
        raise TopologyError(f"{family}:{arguments}: {text!r} endpoints to a router; allowed: whole numbers from 1")
    return sizes, int(text) if at else 0


def with_endpoints(name: str, routers: int, each: int) -> tuple[Cables, NDArray[np.int64]]:
    """Cables from endpoints to routers, to which those between routers are added, and the ids of the routers.

    Endpoint i is joined to router i div `each`. With `each` 0 there are no switches: the routers are the endpoints.
    """
    if not each:
        return Cables(name, routers), np.arange(routers)
    cables = Cables(name, routers * each, routers)
    ids = routers * each + np.arange(routers)
    cables.join(np.arange(routers * each), np.repeat(ids, each))
    return cables, ids
