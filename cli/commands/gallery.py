"""`certree gallery`: a worked example of each paper."""

from pathlib import Path

import click

from certree.cli.gallery import write_gallery
from certree.cli.parameters import option_json
from certree.cli.terminal import emit, say, working
from certree.models.errors import InputError


@click.command("gallery")
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="A new folder.")
@option_json()
def gallery_command(output: Path, as_json: bool) -> None:
    """Write a worked example of each paper: pictures of network and schedule, verdict, simulated time."""
    if output.exists():
        raise InputError(f"{output} exists; name a new folder")
    if not output.parent.is_dir():
        raise InputError(f"{output}: the folder {output.parent} does not exist")
    output.mkdir()
    with working("working the examples") as report:
        done = write_gallery(output, report)
    if as_json:
        examples = [
            {
                "slug": worked.example.slug,
                "topology": worked.example.topology,
                "method": worked.example.method,
                "collective": worked.example.collective,
                "verdict": worked.verdict.partition(":")[0],
            }
            for worked in done
        ]
        emit({"folder": str(output), "examples": examples})
    else:
        say(f"{len(done)} examples in {output}: README.md, index.html")
