"""Pages and pictures of training runs: what they say, that they load nothing, that bytes repeat, and what is refused."""

import re
from dataclasses import replace
from fractions import Fraction

import pytest

import certree.api as ct
from certree.extras.training.make.timeline import IDLE, PHASES, SERVED, WAITING, WIDTH
from certree.extras.training.model.workload import Act, Phase
from tests.cli.running import certree

PIPELINE = "transformer:layers=2,width=64,heads=4,sequence=32,data=4,pipeline=2,micro_batches=2,batch=2"


@pytest.fixture(scope="module")
def run():
    return ct.train("astra-mlp-hybrid", "ring:4", method="ring", what_if=["bandwidth=2", "timing=aggregate", "communication=free"])


def svg_of(run):
    return run._repr_svg_()


def drawn(svg, *colours):
    """Width of all boxes of these colours, in units of the picture; legends are at most 14 wide."""
    found = 0.0
    for colour in colours:
        found += sum(map(float, re.findall(rf'<rect x="[^"]*" y="[^"]*" width="([^"]*)" height="22"[^>]*fill="{colour}"', svg)))
        for path in re.findall(rf'<path d="([^"]*)" fill="{colour}"', svg):
            found += sum(map(float, re.findall(r"h([0-9.]+)v22", path)))
    return found


def test_boxes_are_as_wide_as_the_times_that_they_stand_for(run):
    svg, training = svg_of(run), run.training
    for phase in Phase:
        seconds = sum((span.seconds for span in training.spans if (span.act, span.phase) == (Act.COMPUTE, phase)), Fraction(0))
        assert drawn(svg, PHASES[phase]) == pytest.approx(WIDTH * float(seconds / training.seconds), abs=3)
    assert drawn(svg, WAITING) == pytest.approx(WIDTH * float(training.total(Act.WAIT) / training.seconds), abs=3)
    busy = training.busy("local") + training.busy("across")
    assert drawn(svg, *SERVED) == pytest.approx(WIDTH * float(busy / training.seconds), abs=3)
    assert re.search(r"<title>waiting for layer_64_2_mlp\d, [a-z-]+: [0-9.]+ µs<", svg)
    assert ">network across<" in svg


def test_a_pipeline_idles():
    run = ct.train(PIPELINE, "ring:4", groups={"pipeline": "ring:2"}, iterations=1)
    assert drawn(svg_of(run), IDLE) == pytest.approx(WIDTH * float(run.training.total(Act.IDLE) / run.seconds), abs=1)
    assert "idle in the pipeline" in svg_of(run)


def test_page(run, tmp_path):
    ct.report(run, tmp_path / "run.html")
    page = (tmp_path / "run.html").read_text()
    for words in ("astra-mlp-hybrid on ring:4", "exposed communication", "network of local, ring:4, busy", "mlp5", "switches add"):
        assert words in page, words
    assert page.index(">communication=free<") < page.index(">bandwidth=2<") < page.index(">timing=aggregate<")
    assert not re.findall(r"<link[^>]*href=\"(?!data:)|(?:src|href)=\"(?:https?:)?//|@import|url\((?!data:)", page)
    assert page.index("<h2>Layers</h2>") < page.index("Transfers over time")
    assert "all-reduce of 64 KiB on ring:4, made by ring: with the 4 collectives of an iteration that are like it" in page
    ct.report(run, tmp_path / "again.html")
    assert (tmp_path / "again.html").read_text() == page


@pytest.mark.parametrize("how", [{"what_if": ["communication=free"]}, {"timing": "aggregate"}, {"timing": "endpoints"}])
def test_the_view_is_of_schedules_that_times_come_from(how, tmp_path):
    network = {"endpoints": "ace-torus:2x2x1", "aggregate": "switch:4,reducing=switches"}.get(how.get("timing"), "ring:4")
    run = ct.train("astra-resnet50", network, iterations=1, **({"method": "ring"} if "what_if" in how else {}), **how)
    ct.report(run, tmp_path / "run.html")
    assert ("Transfers over time" in (tmp_path / "run.html").read_text()) == ("what_if" in how)


def test_names_cannot_be_markup(run, tmp_path):
    workload = run.settings.workload
    layers = tuple(replace(layer, name=f"</svg><script>{layer.name}") for layer in workload.layers)
    named = replace(run, training=replace(run.training, workload=replace(workload, layers=layers)),
                    settings=replace(run.settings, workload=replace(workload, layers=layers, name="<b>\x1b")))  # fmt: skip
    ct.report(named, tmp_path / "run.html")
    page = (tmp_path / "run.html").read_text()
    assert "<script>layer" not in page
    assert "<b>" not in page
    assert "&lt;script&gt;layer_64_2_mlp0" in page


def test_drawn_as_a_picture(run, tmp_path):
    ct.draw(run, tmp_path / "run.svg")
    assert (tmp_path / "run.svg").read_text() == svg_of(run)
    ct.draw(run, tmp_path / "run.png")
    assert (tmp_path / "run.png").read_bytes().startswith(b"\x89PNG")


def test_command(tmp_path):
    command = ("train", "astra-dlrm", "ring:4", "--method", "all-reduce=ring", "--report", tmp_path / "r.html")
    assert certree(*command).err.endswith(f"wrote {tmp_path / 'r.html'}\n")
    assert "Embedding" in (tmp_path / "r.html").read_text()
    assert certree(*command).code == 2  # it exists
    assert certree(*command, "--force").code == 0


def test_collectives_at_once_are_counted():
    run = ct.train("astra-resnet50", "ace-torus:2x2x1", timing="endpoints", iterations=1)
    svg, served = svg_of(run), [interval for one in run.training.collectives for interval in one.served]
    most = max(sum(begin <= at < end for begin, end in served) for at, _ in served)
    counts = [int(count) for count in re.findall(r"<title>(\d+) collectives under way", svg)]
    assert 1 < max(counts) <= most
    assert "collectives at once" in svg
