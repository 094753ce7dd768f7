"""`certree list`: Everything that has a name: methods, presets, formats, topologies, rules."""

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
from certree.models.network.imports import load_imports
from certree.models.network.spec import MODIFIERS
from certree.models.schedule.collective import CollectiveKind
from certree.synth.method import load_methods
from certree.verify.bounds.witness import load_witnesses
from certree.verify.exact.refutations.refutation import load_refutations
from certree.verify.rule import load_rules


@click.command("list")
@click.argument("name", required=False)
@option_json()
def list_command(name: str | None, as_json: bool) -> None:
    """Everything that has a name: methods, formats, topologies, presets, cost models, targets, rules and more; or what a NAME is,
    and what it takes."""
    registries: dict[str, Registry[Any]] = {
        "methods": load_methods(),
        "formats": load_formats(),
        "topologies": load_families(),
        "topology modifiers": MODIFIERS,
        "import formats": load_imports(),
        "cost models": load_models(),
        "experiments": load_experiments(),
        "rules": load_rules(),
        "witnesses": load_witnesses(),
        "refutations": load_refutations(),
    }
    if name is not None:
        text = "\n\n".join(registry.explain(name) for registry in registries.values() if name in registry)
        if not text:
            raise InputError(f"nothing to explain is called {name!r}; `certree list` has the {', '.join(registries)}")
        emit({"name": name, "text": text}) if as_json else say(text)
        return
    described = {kind: dict(registry.describe()) for kind, registry in registries.items()} | {
        "collectives": {str(kind): "" for kind in CollectiveKind},
        "presets": {preset: f"models/machine/presets/{preset}.toml" for preset in MACHINES.names()},
        "cost presets": {preset: f"models/cost/presets/{preset}.toml" for preset in COST_PARAMETERS.names()},
        "endpoints": {preset: f"models/machine/endpoints/{preset}.toml" for preset in ENDPOINTS.names()},
        "targets": dict(targets()),
    }
    if as_json:
        emit({kind: list(entries) for kind, entries in described.items()})
        return
    width = max(len(entry) for entries in described.values() for entry in entries)
    for kind, entries in described.items():
        say(kind)
        for entry, line in entries.items():
            say(f"  {entry:<{width}}  {line}".rstrip())
