"""Atomic writes, canonical JSON."""

import gzip
import os

import pytest

from certree.models.common.errors import InputError
from certree.models.common.files import (
    Opened,
    canonical_json,
    check_format,
    check_writable,
    new_folder,
    read_bytes,
    write_atomically,
)


def test_write_creates_with_the_usual_mode(tmp_path):
    write_atomically(tmp_path / "a", b"data", force=False)
    (tmp_path / "b").write_bytes(b"data")
    assert (tmp_path / "a").read_bytes() == b"data"
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "b").stat().st_mode


def test_write_refuses_an_existing_file_unless_forced(tmp_path):
    file = tmp_path / "a"
    file.write_bytes(b"old")
    with pytest.raises(InputError, match="exists; pass --force to overwrite it"):
        write_atomically(file, b"new", force=False)
    assert file.read_bytes() == b"old"
    write_atomically(file, b"new", force=True)
    assert file.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["a"]


def test_names_in_gz_are_zipped_and_read_back(tmp_path):
    file = tmp_path / "a.json.gz"
    write_atomically(file, b"data", force=False)
    zipped = file.read_bytes()
    assert gzip.decompress(zipped) == b"data" == read_bytes(file)
    assert Opened(file).start == b"data"
    write_atomically(file, b"data", force=True)
    assert file.read_bytes() == zipped
    file.write_bytes(b"data")
    assert Opened(file).start == Opened(tmp_path / "none").start == Opened(tmp_path).start == b""
    with pytest.raises(InputError, match=r"cannot read .*a.json.gz: Not a gzipped file"):
        read_bytes(file)


@pytest.mark.parametrize("failing", ["open", "replace"])
def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, failing):
    file = tmp_path / "a"
    file.write_bytes(b"old")

    def fail(*arguments, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(f"certree.models.common.folders.replacing.os.{failing}", fail)
    with pytest.raises(InputError, match=r"cannot write .*a: No space left on device"):
        write_atomically(file, b"new", force=True)
    assert file.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a"]


def test_a_new_folder_is_whole_or_not_there(tmp_path):
    def interrupted():
        with new_folder(tmp_path / "made") as folder:
            (folder / "half").write_text("written")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert os.listdir(tmp_path) == []
    with new_folder(tmp_path / "made") as folder:
        (folder / "all").write_text("written")
    assert (os.listdir(tmp_path), os.listdir(tmp_path / "made")) == (["made"], ["all"])
    (tmp_path / "usual").mkdir()
    assert (tmp_path / "made").stat().st_mode == (tmp_path / "usual").stat().st_mode
    with pytest.raises(InputError, match="made exists; name a new folder"), new_folder(tmp_path / "made"):
        pass


def test_a_new_folder_where_nothing_can_be_made(tmp_path, monkeypatch):
    def fail(*_arguments, **_options):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("certree.models.common.folders.replacing.Path.mkdir", fail)
    with pytest.raises(InputError, match=r"cannot write .*made: Read-only file system"), new_folder(tmp_path / "made"):
        pass


def test_an_interrupted_write_leaves_nothing(tmp_path, monkeypatch):
    def interrupt(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("certree.models.common.folders.replacing.os.replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(tmp_path / "a", b"new", force=False)
    assert os.listdir(tmp_path) == []


def test_places_that_cannot_be_written(tmp_path):
    with pytest.raises(InputError, match=r"the folder .*missing does not exist"):
        check_writable(tmp_path / "missing" / "a", force=False)
    with pytest.raises(InputError, match="is a folder; name a file"):
        write_atomically(tmp_path, b"", force=True)
    check_writable(tmp_path, force=True)  # an output may also be a folder


def test_read_bytes_names_the_reason(tmp_path):
    with pytest.raises(InputError, match=r"cannot read .*none: No such file or directory"):
        read_bytes(tmp_path / "none")


def test_canonical_json():
    assert canonical_json({"b": 1, "a": [None, "ü"]}) == b'{"b":1,"a":[null,"\\u00fc"]}\n'
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical_json(float("nan"))


def test_check_format():
    good = {"format": "x", "version": 2}
    assert check_format(good, "x", 2, "here") is good
    for bad, reason in [
        ([], 'here: no "format" field'),
        ({"version": 2}, 'here: no "format" field'),
        ({"format": "y", "version": 2}, "format is 'y'; expected 'x'"),
        ({"format": "x"}, "version None cannot be read; expected 2"),
        ({"format": "x", "version": 3}, "version 3 cannot be read; expected 2"),
        ({"format": "x", "version": 2.0}, "version 2.0 cannot be read; expected 2"),
    ]:
        with pytest.raises(InputError) as caught:
            check_format(bad, "x", 2, "here")
        assert reason in str(caught.value)
