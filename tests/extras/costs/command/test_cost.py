"""`certree cost`: schedules and networks priced, term by term; Theorems 1 and 2 in words; bad input."""

from fractions import Fraction
from importlib import resources
from pathlib import Path

from certree.extras.costs.model.counting import count
from certree.extras.costs.model.formulas.genmodel import load_genmodel
from certree.models.schedule.schedule_file import load_schedule
from tests.cli.artefacts import schedule_file
from tests.cli.running import assert_bad_input, certree, json_of

GENTREE = (resources.files("certree.extras.costs.model") / "presets" / "gentree.toml").read_text()


def test_methods_compared_with_the_cheapest_first() -> None:
    outcome = certree("cost", "ss:12", "--size", "400MB", "--json")
    assert outcome.code == 0
    document = outcome.document
    assert (document["model"], document["params"], document["message_bytes"]) == ("genmodel", "gentree", 4 * 10**8)
    priced = [cell for cell in document["cells"] if "seconds" in cell]
    assert [cell["method"] for cell in priced] == ["gentree", "cps", "ring", "halving-doubling", "reduce-broadcast"]
    times = [Fraction(cell["seconds"]) for cell in priced]
    assert times == sorted(times)
    for cell in priced:
        assert sum(Fraction(term["seconds"]) for term in cell["terms"]) == Fraction(cell["seconds"])
    assert priced[0]["plans"] == {"12": {"plan": "6x2", "rearranged": []}}
    assert "gentree: 6x2 at switch 12" in certree("cost", "ss:12", "--size", "400MB").err
    assert "hierarchical-cps: hierarchical-cps: ss:12 suggests no groups" in outcome.err


def test_table_of_methods() -> None:
    lines = certree("cost", "ss:8", "--size", "40MB", "--methods", "cps,ring").out.splitlines()
    assert lines[0] == "all-reduce on ss:8, 40 MB, genmodel, parameters gentree"
    assert lines[1].split() == ["method", "seconds", "start-up", "links", "additions", "memory", "access", "incast", "steps"]
    assert [line.split()[0] for line in lines[2:]] == ["cps", "ring"]


def test_one_schedule_taken_apart(tmp_path: Path) -> None:
    path = schedule_file(tmp_path, "ss:12", "cps", name="cps.json")
    cost = load_genmodel("gentree").cost(count(load_schedule(path)), 4 * 10**8)
    outcome = certree("cost", path, "--size", "400MB")
    assert outcome.code == 0
    lines = outcome.out.splitlines()
    assert lines[0] == f"all-reduce by cps on ss:12, 390625 KiB, genmodel, parameters gentree: {float(cost.seconds):.6g} s"
    assert [line.split()[0] for line in lines[1:6]] == ["alpha", "beta", "gamma", "delta", "epsilon"]
    assert lines[6:] == [
        "  steps 2; of the message: links 11/6, additions 11/12, memory access 13/12",
        "  the busiest endpoint sends 11/6 of the message and receives 11/6",
        "  memory access: 13/12, bound 13/12: optimal, every share in one addition",
        "  incast: 12 communicators on link 12>0 in step 0, threshold 9: not optimal",
        "  both optimal is impossible: 12 servers with one link each and threshold 9 need 2 additions per share to"
        " avoid incast: memory access at least 5/4",
    ]
    (cell,) = json_of("cost", path, "--size", "400MB")["cells"]
    assert Fraction(cell["seconds"]) == cost.seconds
    assert cell["optimality"]["both"] == {
        "possible": False, "endpoints": 12, "links": 1, "least_operations": 2, "least_accesses": "5/4",
    }  # fmt: skip


def test_witnesses_in_words() -> None:
    ring = certree("cost", "ss:12", "--methods", "ring").out
    assert "memory access: 11/4, bound 13/12: not optimal, chunk 0 takes 11 additions (2 terms at 2 in step 0, " in ring
    assert "incast: 2 communicators on link 0>12 in step 0, threshold 9: optimal" in ring
    assert "server 0 has 7 of it" in certree("cost", "ss:6", "--methods", "reduce-broadcast").out
    assert "both at once" not in certree("cost", "full:12", "--methods", "cps").out
    assert "memory access: " not in certree("cost", "ss:6,reducing=switches", "--methods", "netreduce").out


def test_other_models() -> None:
    cells = json_of("cost", "tree:4x8", "--params", "netreduce", "--methods", "ring,tencent")["cells"]
    assert [cell["method"] for cell in cells] == ["tencent", "ring"]
    assert [term["symbol"] for term in cells[0]["terms"]] == ["alpha", "B_intra", "B_inter"]
    assert "optimality" not in cells[0]
    outcome = certree("cost", "torus:4x4", "--params", "ace", "--size", "16MB", "--methods", "ring-2d")
    assert "  loads    local reads for sums and copies" in outcome.out


def test_several_schedules(tmp_path: Path) -> None:
    paths = [tmp_path / "ring.json", tmp_path / "cps.npz"]
    for path, method in zip(paths, ("ring", "cps"), strict=True):
        assert certree("synthesize", "ss:8", "--method", method, "-o", path).code == 0
    outcome = certree("cost", *paths, "ss:4", "--methods", "cps")
    assert outcome.code == 0
    assert [line.split()[:2] for line in outcome.out.splitlines()[2:]] == [
        [str(paths[0]), "ring"], [str(paths[1]), "cps"], ["ss:4", "cps"],
    ]  # fmt: skip


def test_gentree_plans_with_the_parameters_it_is_priced_with(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(GENTREE.replace("incast_threshold = 9", "incast_threshold = 2"))
    asked = ["cost", "ss:12", "--size", "400MB", "--methods", "gentree", "--json"]
    plans = [certree(*asked, *more).document["cells"][0]["plans"]["12"]["plan"] for more in ([], ["--params", path])]
    assert plans[0] == "6x2"
    assert plans[1] != "6x2"


def test_levels_that_the_network_needs(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(GENTREE[: GENTREE.index("# Links between switches")])
    assert certree("cost", "ss:4", "--params", path, "--methods", "cps,gentree").code == 0
    for method in ("cps", "gentree"):
        outcome = certree("cost", "tree:2x3", "--params", path, "--methods", method)
        assert_bad_input(outcome, "have no table [root], for the links between switches of this network")


def test_models_and_presets_are_listed() -> None:
    document = json_of("list")
    assert document["cost models"] == ["ace", "alpha-beta-gamma", "genmodel", "loggp", "nccl", "netreduce"]
    assert {"ace", "gentree", "netreduce"} <= set(document["cost presets"])
    assert "Latency L, overhead o at either end" in certree("list", "loggp").out
    both = certree("list", "netreduce").out  # a method and a cost model
    assert "Endpoints send to reducing switches" in both
    assert "bandwidth inside and between machines" in both
