"""`certree gallery` (study): A worked example of each paper, with pictures."""

from pathlib import Path

import click

from certree.cli.words.parameters import option_json
from certree.cli.words.progress_bar import working
from certree.cli.words.terminal import emit, say
from certree.extras.papers.gallery import gallery


@click.command("gallery")
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="A new folder.")
@option_json()
def gallery_command(output: Path, as_json: bool) -> None:
    """Write a worked example of each paper: pictures of network and schedule, verdict, simulated time."""
    with working("working the examples") as tell:
        done = gallery(output, tell)
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
