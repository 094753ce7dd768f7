"""`certree list`: Everything that has a name: methods, presets, formats, topologies, rules."""

import click

from certree.api.listings import explain, names
from certree.cli.words.parameters import option_json
from certree.cli.words.terminal import emit, reflowed, say


@click.command("list")
@click.argument("name", required=False)
@option_json()
def list_command(name: str | None, as_json: bool) -> None:
    """Everything that has a name: methods, formats, topologies, presets, cost models, targets, rules and more; or what a NAME is,
    and what it takes."""
    if name is not None:
        text = explain(name)
        emit({"name": name, "text": text}) if as_json else say(reflowed(text))
        return
    described = names()
    if as_json:
        emit({kind: list(entries) for kind, entries in described.items()})
        return
    width = max(len(entry) for entries in described.values() for entry in entries)
    for kind, entries in described.items():
        say(kind)
        for entry, line in entries.items():
            say(f"  {entry:<{width}}  {line}".rstrip())
