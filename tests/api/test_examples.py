"""The examples in the docstrings of certree.api run, and show what they say."""

import doctest
import importlib
import pkgutil

import pytest

import certree.api

MODULES = sorted(
    {module.name for module in pkgutil.walk_packages(certree.api.__path__, "certree.api.")}
    | {module for module in certree.api.modules().values() if module.startswith("certree.extras.")}
)
FINDER = doctest.DocTestFinder(exclude_empty=True)
EXAMPLES = [example for name in MODULES for example in FINDER.find(importlib.import_module(name)) if example.examples]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_example(example, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    report: list[str] = []
    failed = doctest.DocTestRunner().run(example, out=report.append).failed
    assert not failed, "".join(report)


def test_every_function_has_one():
    shown = {example.name.rpartition(".")[2] for example in EXAMPLES}
    public = {name for name in certree.api.__all__ if name[0].islower()}
    # the input of the first would be measured times; the second needs devices: docs/how-to/jax.md has examples
    assert public - shown == {"save_parameters", "jax"}
