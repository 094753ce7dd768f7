"""`certree list`: Methods, machine presets, table formats, topologies, collectives."""

from typing import Any

import click

from certree.api.papers.experiment import load_experiments
from certree.api.papers.target import targets
from certree.cli.words.parameters import option_json
from certree.cli.words.terminal import emit, say
from certree.hw.formats import load_formats
from certree.models.common.errors import InputError
from certree.models.common.registry import Registry
from certree.models.cost.model import COST_PARAMETERS, load_models
from certree.models.machine.endpoint import ENDPOINTS
from certree.models.machine.machine import MACHINES
from certree.models.network.families import load_families
from certree.models.schedule.collective import CollectiveKind
from certree.synth.method import load_methods
from certree.verify.rule import load_rules


@click.command("list")
@click.argument("name", required=False)
@option_json()
def list_command(name: str | None, as_json: bool) -> None:
    """Methods, presets, table formats, topologies, collectives, cost models, targets and experiments of `reproduce`, rules of the
    checkers; or what one of a name is and takes."""
    registries: dict[str, Registry[Any]] = {
        "methods": load_methods(),
        "formats": load_formats(),
        "topologies": load_families(),
        "cost models": load_models(),
        "experiments": load_experiments(),
        "rules": load_rules(),
    }
    if name is not None:
        text = "\n\n".join(registry.explain(name) for registry in registries.values() if name in registry)
        if not text:
            raise InputError(f"nothing to explain is called {name!r}; `certree list` has the {', '.join(registries)}")
        emit({"name": name, "text": text}) if as_json else say(text)
        return
    described = {
        "methods": dict(registries["methods"].describe()),
        "presets": {preset: f"models/machine/presets/{preset}.toml" for preset in MACHINES.names()},
        "formats": dict(registries["formats"].describe()),
        "topologies": dict(registries["topologies"].describe()),
        "collectives": {str(kind): "" for kind in CollectiveKind},
        "cost models": dict(registries["cost models"].describe()),
        "cost presets": {preset: f"models/cost/presets/{preset}.toml" for preset in COST_PARAMETERS.names()},
        "endpoints": {preset: f"models/machine/endpoints/{preset}.toml" for preset in ENDPOINTS.names()},
        "targets": dict(targets()),
        "experiments": dict(registries["experiments"].describe()),
        "rules": dict(registries["rules"].describe()),
    }
    if as_json:
        emit({kind: list(entries) for kind, entries in described.items()})
        return
    width = max(len(entry) for entries in described.values() for entry in entries)
    for kind, entries in described.items():
        say(kind)
        for entry, line in entries.items():
            say(f"  {entry:<{width}}  {line}".rstrip())
