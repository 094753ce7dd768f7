"""`certree list` (study): Names of methods, presets, formats, topologies, rules and more."""

import json

import click

from certree.api.listings import explain, names, schemas
from certree.cli.words.parameters import completing, option_json
from certree.cli.words.terminal import emit, reflowed, say
from certree.models.common.errors import InputError, unknown_name


@click.command("list")
@click.argument(
    "name", required=False, shell_complete=completing(lambda: sorted({name for entries in names().values() for name in entries}))
)
@click.option("--schema", is_flag=True, help="Print the JSON schema of the format NAME; without NAME, their names.")
@option_json()
def list_command(name: str | None, schema: bool, as_json: bool) -> None:
    """List methods, formats, topologies, presets, cost models, targets, rules and more; with NAME, describe that entry and its
    options."""
    if schema:
        _say_schema(name)
        return
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


def _say_schema(name: str | None) -> None:
    known = schemas()
    if name is None:
        say("\n".join(sorted(known)))
    elif name not in known:
        raise InputError(unknown_name("schema", name, sorted(known)))
    else:
        say(json.dumps(known[name], indent=2), wrap=False)
