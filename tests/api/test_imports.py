"""What is slow to load is loaded by what needs it: every case runs in an interpreter of its own."""

import json
import subprocess
import sys

import pytest

SEARCH, PICTURES, GRAPHS, TERMINAL = {"ortools", "pysat", "z3"}, {"matplotlib"}, {"networkx"}, {"click", "rich"}
SLOW = SEARCH | PICTURES | GRAPHS | {"numpy", "rich"}  # of what certree depends on
PACKAGES = "import sys, json; print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))"

API = "import certree.api as ct"
RING = f"{API}; ct.save(ct.synthesize('torus:4x4', method='ring', size='64KiB'), 'ring.json')"
NAMES = f"{API}; [getattr(ct, name) for name in ct.__all__]"


def program(*arguments: str) -> str:
    """Code that does what the program `certree` does, but does not end the interpreter."""
    return f"from certree.cli.main import run; assert run({list(arguments)}) == 0"


def loaded(code: str, folder) -> set[str]:
    """The top-level packages that a fresh interpreter has loaded after some code."""
    command = [sys.executable, "-c", f"{code}\n{PACKAGES}"]
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return set(json.loads(ended.stdout.splitlines()[-1]))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where `ring.json` is."""
    where = tmp_path_factory.mktemp("loaded")
    assert "numpy" in loaded(RING, where)
    return where


@pytest.mark.parametrize(
    ("code", "kept_out"),
    [
        (program("--help"), SLOW),
        (program("synthesize", "--help"), SEARCH | PICTURES | GRAPHS | {"rich"}),
        (API, SLOW | TERMINAL),
        (NAMES, SEARCH | PICTURES | GRAPHS | TERMINAL),
        (f"{API}; assert ct.verify('ring.json').valid", SEARCH | PICTURES | GRAPHS | TERMINAL),
        (program("verify", "ring.json"), SEARCH | PICTURES | GRAPHS | {"rich"}),
        (program("synthesize", "torus:4x4", "--method", "ring"), SEARCH | PICTURES | GRAPHS | {"rich"}),
        (program("export", "ring.json", "-o", "tables"), SEARCH | PICTURES | GRAPHS | {"rich"}),
        (f"{API}; assert ct.simulate('ring.json').data_ok", SEARCH | PICTURES | GRAPHS | TERMINAL),
        (program("model-check", "config", "MCAllReduce"), SEARCH | PICTURES | GRAPHS | {"rich"}),
        (program("simulate", "ring.json"), SEARCH | PICTURES | GRAPHS | {"rich"}),
    ],
)
def test_what_is_not_needed_is_not_loaded(code, kept_out, folder):
    assert not loaded(code, folder) & kept_out


@pytest.mark.parametrize(
    ("code", "package"),
    [
        (f"{API}; ct.synthesize('ring:3', 'all-gather', method='exact')", "ortools"),
        (f"{API}; ct.topology('switch:4')._repr_svg_()", "networkx"),
        (program("compare", "ring:3", "--methods", "ring", "--size", "1KiB"), "rich"),
    ],
)
def test_what_is_needed_is_loaded(code, package, folder):
    """So that the test above looks at names that these packages have."""
    assert package in loaded(code, folder)
