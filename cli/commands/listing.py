"""`certree list`: what can be named on the command line."""

import click

from certree.cli.parameters import option_json
from certree.cli.terminal import emit, say
from certree.hw.formats import load_formats
from certree.models.collective import CollectiveKind
from certree.models.machine import presets
from certree.models.topologies import load_families
from certree.synth.method import load_methods


@click.command("list")
@option_json()
def list_command(as_json: bool) -> None:
    """Methods, machine presets, table formats, topologies, collectives."""
    described = {
        "methods": dict(load_methods().describe()),
        "presets": {name: f"models/presets/{name}.toml" for name in presets()},
        "formats": dict(load_formats().describe()),
        "topologies": dict(load_families().describe()),
        "collectives": {str(kind): "" for kind in CollectiveKind},
    }
    if as_json:
        emit({kind: list(entries) for kind, entries in described.items()})
        return
    for kind, entries in described.items():
        say(kind)
        for name, line in entries.items():
            say(f"  {name:<15}{line}".rstrip())
