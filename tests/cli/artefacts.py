"""Schedules in files, right and wrong, that several tests of commands start from."""

import dataclasses
from pathlib import Path

import numpy as np

from certree.models.schedule.schedule_file import load_schedule, save_schedule
from tests.cli.running import certree


def schedule_file(folder, topology="ring:4", method="ring", name="s.json", **options):
    """A certified schedule in a file."""
    file = folder / name
    more = [part for key, value in options.items() for part in (f"--{key}", value)]
    assert certree("synthesize", topology, "--method", method, "-o", file, *more).code == 0
    return file


def with_columns(file, name="wrong.json", **columns):
    """A copy of a schedule file with some columns replaced and without certificate."""
    schedule = load_schedule(file)
    arrays = {column: np.asarray(values, np.int32) for column, values in columns.items()}
    save_schedule(dataclasses.replace(schedule, certificate=None, **arrays), file.with_name(name))
    return file.with_name(name)


def without_first_transfer(file):
    """A copy that lacks one transfer."""
    schedule = load_schedule(file)
    names = ("chunk", "op", "step", "src", "dst", "route")
    return with_columns(file, **{name: getattr(schedule, name)[1:] for name in names})


def changed(folder, file, *changes):
    """mine.toml: a copy of a file of the checkout with the first occurrence of each old text replaced."""
    text = (Path(__file__).parents[2] / file).read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    (folder / "mine.toml").write_text(text)
    return folder / "mine.toml"
