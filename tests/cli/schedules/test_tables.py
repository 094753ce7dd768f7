"""`certree export` and `certree import`: out and in again, verified both times."""

import re

import pytest

from certree.extras.costs.model.cost_model import load_models
from certree.extras.papers.experiment import load_experiments
from certree.hw.formats import FORMATS, load_formats
from certree.hw.tables.directory import read_tables
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.schedule_file import load_schedule
from certree.synth.method import METHODS, load_methods
from tests.cli.artefacts import schedule_file
from tests.cli.running import certree, json_of


@pytest.mark.parametrize("form", list(load_formats()))
def test_export_and_import_give_the_schedule_again(tmp_path, form):
    file = schedule_file(tmp_path, "mesh:3x3", "multitree")
    outcome = json_of("export", file, "--format", form, "--size", "64KiB", "-o", tmp_path / "t")
    tables = read_tables(tmp_path / "t")
    assert outcome["rows"] == len(tables.node)
    assert outcome["slot_cycles"] == tables.slot_cycles
    assert outcome["padded_bytes"] == 9 * tables.chunk_bytes >= 65536 > 9 * (tables.chunk_bytes - 16)
    again = certree("import", tmp_path / "t", "-o", tmp_path / "again.json", "--json")
    assert again.code == 0
    assert again.document["valid"] is True
    assert load_schedule(tmp_path / "again.json").digest == load_schedule(file).digest


def test_words_name_the_padding(tmp_path):
    outcome = certree("export", schedule_file(tmp_path), "--size", "100B", "-o", tmp_path / "t")
    assert outcome.code == 0
    assert "chunks of 32 bytes" in outcome.out  # 4 chunks of 25 bytes, in whole flits of 16
    assert f"{4 * 32 - 100} bytes of padding" in outcome.out


def test_force_replaces_tables(tmp_path):
    file = schedule_file(tmp_path)
    assert certree("export", file, "-o", tmp_path / "t").code == 0
    assert certree("export", file, "--size", "1MiB", "--force", "-o", tmp_path / "t").code == 0
    assert read_tables(tmp_path / "t").message_bytes == 1 << 20


def test_list_names_what_can_be_typed():
    words, document = certree("list"), json_of("list")
    assert words.code == 0
    assert document["methods"] == list(METHODS)
    assert document["formats"] == list(FORMATS)
    assert document["collectives"] == list(CollectiveKind)
    assert {"multitree", "booksim2"} <= set(document["presets"])
    for names in (names for kind, names in document.items() if kind not in ("format", "version")):
        assert names
        for name in names:
            assert re.search(rf"^  {re.escape(name)}(  +\S.*\S)?$", words.out, re.MULTILINE)


def test_descriptions_are_whole_sentences():
    for registry in (load_methods(), load_formats(), load_models(), load_experiments()):
        for name, line in registry.describe():
            assert line.endswith("."), name


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("multitree", "order=authors"),
        ("readmemh", "routes.hex"),
        ("dgx2", "DGX-2-like"),
        ("all-reduce-runs", "`bytes_per_node`"),
    ],
)
def test_list_explains_a_name(name, text):
    assert text in certree("list", name).out
    assert text in json_of("list", name)["text"]


def test_export_says_when_counters_must_start_together(tmp_path):
    """Fine slots without guards tolerate no skew; whole slots and fine slots with guards are exported without that note."""
    said = "right only where the counters of all nodes start in the same cycle; `certree synthesize --skew N` makes guards"
    for name, options, is_said in (("none", (), True), ("guards", ("--skew", "20"), False)):
        file = tmp_path / f"{name}.json"
        assert certree("synthesize", "ring:4", "--method", "two-shot", "--size", "4KiB", *options, "-o", file).code == 0
        done = certree("export", file, "-o", tmp_path / name)
        assert (done.code, said in done.err) == (0, is_said), done.err
    assert certree("synthesize", "ring:4", "--method", "ring", "-o", tmp_path / "ring.json").code == 0
    assert said not in certree("export", tmp_path / "ring.json", "-o", tmp_path / "ring").err
