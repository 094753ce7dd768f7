"""What reports say of a network whose link rates an import rounded."""

from collections.abc import Mapping
from typing import Any

from certree.api.reports.text import counted
from certree.api.reports.times import rate_words
from certree.models.network.topology import Topology

NAMED = 3  # rates that words list


def rounded_of(topology: Topology) -> dict[str, Any]:
    """The key `rounded` of a report; nothing where no rate was rounded."""
    return {} if topology.rounded is None else {"rounded": topology.rounded.document()}


def rounded_words(report: Mapping[str, Any]) -> list[str]:
    """The line that says which rates were rounded, and what the bounds of the report are bounds of; none without any."""
    if "rounded" not in report:
        return []
    unit, rates = report["rounded"]["unit"], report["rounded"]["rates"]
    named = [f"{counted(one['links'], 'links')} from {rate_words(one['described'])} to {rate_words(one['used'])}" for one in rates]
    if len(named) > NAMED:
        named[NAMED:] = [f"{len(named) - NAMED} more"]
    which = f"{counted(len(rates), 'rates')}: {', '.join(named)} (unit {rate_words(unit)})"
    return [f"  rounded: {which}; bounds are those of the rounded network, not of the one described"]
