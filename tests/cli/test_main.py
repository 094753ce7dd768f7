"""The frame of the program: commands found, errors in one line, exit codes, readers that go away."""

import importlib
import json
import subprocess
import sys

import pytest
from click.shell_completion import ShellComplete

from certree.cli.main import certree as commands_group
from certree.cli.main import commands
from certree.cli.words.terminal import emit
from certree.models.common.errors import InputError, ToolMissingError, UndecidedError
from tests.cli.running import certree, start


def test_help_names_every_command():
    outcome = certree("--help")
    assert outcome.code == 0
    for name in commands():
        assert f"\n  {name} " in outcome.out


@pytest.mark.parametrize("name", list(commands()))
def test_every_command_is_there_and_explains_itself(name):
    module = importlib.import_module(commands()[name].module)
    assert getattr(module, f"{name.replace('-', '_')}_command").name == name
    outcome = certree(name, "--help")
    assert outcome.code == 0
    assert f"Usage: certree {name} " in outcome.out


def test_no_command_shows_the_help():
    outcome = certree()
    assert (outcome.code, outcome.out) == (2, "")
    assert "Usage: certree" in outcome.err


def test_version():
    outcome = certree("--version")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith("certree, version 0.")


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (InputError("wrong\nfile"), 2, "error: wrong file\n"),
        (UndecidedError("no answer"), 3, "error: no answer\n"),
        (ToolMissingError("no Java"), 69, "error: no Java\n"),
        (KeyboardInterrupt(), 130, "error: interrupted\n"),
        (
            ZeroDivisionError("division by zero"),
            70,
            "error: internal error: ZeroDivisionError: division by zero (this is",
        ),
    ],
)
def test_errors_become_one_line_and_a_code(monkeypatch, error, code, message):
    def fail(*arguments):
        raise error

    monkeypatch.setattr("certree.cli.commands.listings.listing.names", fail)
    outcome = certree("list")
    assert outcome.code == code
    assert outcome.out == ""
    assert outcome.err.strip().startswith(message.strip())
    assert "Traceback" not in outcome.err


def test_debugging_shows_the_place(monkeypatch):
    def fail(*arguments):
        raise ZeroDivisionError

    monkeypatch.setenv("CERTREE_DEBUG", "1")
    monkeypatch.setattr("certree.cli.commands.listings.listing.names", fail)
    with pytest.raises(ZeroDivisionError):
        certree("list")


@pytest.mark.parametrize("arguments", [["--help"], ["synthesize", "--help"], ["topology", "show", "torus:4x4"]])
def test_starting_loads_no_solver(arguments):
    """What is slow to load is loaded by what needs it."""
    program = (
        "import sys; from certree.cli.main import run; run(sys.argv[1:]);"
        "print([name for name in ('numpy', 'networkx', 'ortools', 'rich') if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True)
    assert done.stderr.splitlines()[-1] == ("[]" if arguments == ["--help"] else "['numpy']")


@pytest.mark.parametrize("arguments", [["list"], ["topology", "show", "mesh:4x4"], ["bound", "mesh:8x8", "--json"]])
def test_a_reader_that_goes_away_is_no_error(arguments):
    process = start(*arguments)
    process.stdout.close()
    error = process.stderr.read()
    assert (process.wait(), error) == (0, "")


def test_documents_are_strict_json(capsys):
    emit({"a": [1, None], "b": {"c": "9/16"}}, "test")
    assert json.loads(capsys.readouterr().out) == {
        "format": "certree-test-report", "version": 1, "a": [1, None], "b": {"c": "9/16"}
    }  # fmt: skip
    with pytest.raises(ValueError, match="not JSON compliant"):
        emit({"a": float("inf")}, "test")


@pytest.mark.parametrize("line", ["--help", "bound ring:4", "bound ring:4 --json", "synthesize ring:4 --method ring", "list"])
def test_output_that_cannot_be_written(line):
    """A full disk is neither a fault of the input nor of the program: one line, exit code 74."""
    with open("/dev/full", "w") as full:
        process = start(*line.split(), stdout=full)
        _, said = process.communicate(timeout=120)
    assert process.returncode == 74
    assert said.splitlines()[-1] == "error: cannot write to standard output: No space left on device"
    assert "Traceback" not in said
    assert "Exception ignored" not in said


@pytest.mark.parametrize(
    ("words", "incomplete", "found"),
    [
        ([], "comp", ["compare"]),
        (["bound"], "tor", ["torus"]),
        (["synthesize", "ring:4", "--method"], "pack", ["packing"]),
        (["bound", "ring:4", "--collective"], "all-t", ["all-to-all"]),
        (["bound"], "mine", []),
        (["synthesize", "ring:4", "--params"], "book", ["booksim2"]),
        (["reproduce"], "netreduce-f", ["netreduce-fig19"]),
        (["model-check"], "MCAllReduceUnf", ["MCAllReduceUnfair"]),
        (["list"], "causal", ["causality"]),
    ],
)
def test_the_shell_completes_names(words, incomplete, found):
    shell = ShellComplete(commands_group, {}, "certree", "_CERTREE_COMPLETE")
    assert [item.value for item in shell.get_completions(words, incomplete) if item.type == "plain"] == found
