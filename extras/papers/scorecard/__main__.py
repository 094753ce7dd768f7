"""`python -m certree.extras.papers.scorecard [NAME]...`: what checks of the scorecard find; without NAME their names."""

import click

from certree.extras.papers.scorecard.check import load_checks


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
def main(names: tuple[str, ...]) -> None:
    """Print what each check finds, a line for each number; exit code 1 where one is not the paper's."""
    checks = load_checks()
    if unknown := [name for name in names if name not in checks]:
        raise click.UsageError(f"no check {unknown[0]}; run without names to list them")
    if not names:
        click.echo("\n".join(checks))
        return
    found = [one for name in names for one in checks[name]()]
    click.echo("\n".join(map(str, found)))
    raise SystemExit(0 if all(one.agrees for one in found) else 1)


if __name__ == "__main__":
    main()
