"""Smaller draws of a failure: one change after the other, as long as it still fails."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from certree.models.common.errors import InputError
from tests.end_to_end.draws.recipe import NETWORKS, Recipe
from tests.verify.deadlock.drawn import Cabling

MOST_ASKED = 400


def smallest(recipe: Recipe, fails: Callable[[Recipe], bool]) -> Recipe:
    """A recipe that still fails, and that no single change of `simpler` makes smaller: or the smallest after MOST_ASKED questions.

    Greedy: the first change that leaves a failure is taken, and all changes are tried again. What no method covers does not fail.
    """
    asked, goes_on = 0, True
    while goes_on:
        goes_on = False
        for other in simpler(recipe):
            asked += 1
            if asked > MOST_ASKED:
                return recipe
            if _fails(other, fails):
                recipe, goes_on = other, True
                break
    return recipe


def _fails(recipe: Recipe, fails: Callable[[Recipe], bool]) -> bool:
    try:
        recipe.schedule  # noqa: B018 - made and kept
    except InputError:
        return False
    return fails(recipe)


def simpler(recipe: Recipe) -> Iterator[Recipe]:
    """Recipes with one thing less: a smaller network, fewer endpoints or cables, less data, equal clocks, the usual machine."""
    for network in _smaller_networks(recipe.network):
        yield replace(recipe, network=network)
    for size in {1, recipe.size // 2, recipe.size - 1} - {0}:
        if size < recipe.size:
            yield replace(recipe, size=size)
    if any(recipe.skew):
        yield replace(recipe, skew=())
        yield from (
            replace(recipe, skew=tuple(0 if place == node else value for place, value in enumerate(recipe.skew)))
            for node, late in enumerate(recipe.skew)
            if late
        )
        yield from (
            replace(recipe, skew=tuple(late // 2 if place == node else value for place, value in enumerate(recipe.skew)))
            for node, late in enumerate(recipe.skew)
            if late > 1
        )
    for name in ("machine", "router"):
        pairs = getattr(recipe, name)
        yield from (replace(recipe, **{name: pairs[:place] + pairs[place + 1 :]}) for place in range(len(pairs)))
    if recipe.seed:
        yield replace(recipe, seed=0)


def _smaller_networks(network: str | Cabling) -> Iterator[str | Cabling]:
    if isinstance(network, str):
        yield from NETWORKS[: NETWORKS.index(network)]
        return
    homes, cables = network.homes, network.cables
    if len(homes) > 2:
        yield from (replace(network, homes=homes[:place] + homes[place + 1 :]) for place in range(len(homes)))
    for place in range(len(cables)):
        left = replace(network, cables=cables[:place] + cables[place + 1 :])
        if left.is_connected:
            yield left
    for switch in range(network.switches):
        if network.is_leaf(switch):
            yield network.without(switch)
