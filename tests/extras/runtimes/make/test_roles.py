"""Programs of collectives of some endpoints, and with demands: executed, by another interpreter too, and read back as schedules."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import certree.api as ct
from certree.extras.runtimes.check.algorithm_checker import verify_algorithm
from certree.extras.runtimes.check.checker import verify_program
from certree.extras.runtimes.make.algorithms import lower_to_algorithm
from certree.extras.runtimes.make.lowering import lower_to_program
from certree.extras.runtimes.model.algorithm import algorithm_of, written_algorithm
from certree.models.schedule.schedule import Schedule, make_schedule
from certree.models.schedule.schedule_columns import Op
from tests.cli.running import assert_bad_input, certree
from tests.extras.runtimes.interpreters.interpreter import faults
from tests.extras.runtimes.interpreters.plan_interpreter import faults as plan_faults
from tests.extras.runtimes.interpreters.trace_interpreter import faults as trace_faults
from tests.synth.flows.demands import zipf

FORMATS = {"msccl-xml": ".xml", "mscclpp": ".json", "chakra": ""}
SOME = [
    ("mesh:2x3", "ring", "all-reduce", None, (0, 1, 5)),
    ("mesh:2x3", "recursive-doubling", "all-reduce", None, (0, 2, 4, 5)),
    ("fattree:2x3", "flows", "all-to-all", None, (0, 2, 3, 5)),
    ("ring:6", "flows", "gather", 3, (0, 3, 4)),
    ("ring:6", "flows", "scatter", 3, (0, 3, 4)),
    ("ring:6", "ring", "all-gather", None, (0, 3, 4)),
    ("ring:6", "cps", "reduce-scatter", None, (0, 3, 4)),
    ("mesh:2x3", "chain", "broadcast", 1, (0, 1, 5)),
]


def some(network: str, method: str, kind: str, root: int | None, members: tuple[int, ...]) -> Schedule:
    made = ct.synthesize(network, ct.collective(kind, root=root, members=members), method=method, size="4KiB")
    assert isinstance(made, Schedule)
    return made


def skewed(network: str = "ring:4", method: str = "prepared-paths", sent: int = 1 << 12) -> Schedule:
    amounts = zipf(len(ct.topology(network).endpoints), 0, sent, hot=True) // 160 * 160
    made = ct.synthesize(network, ct.collective("alltoallv", demand=ct.demand(amounts, network)), method=method)
    assert isinstance(made, Schedule)
    return made


def interpreted(path: Path) -> list[str]:
    """The faults that an interpreter finds that shares nothing with certree."""
    if path.is_dir():
        return trace_faults(
            {rank: (path / f"algorithm.{rank}.et").read_bytes() for rank in range(len([*path.glob("algorithm.*")]))}
        )
    return (faults if path.suffix == ".xml" else plan_faults)(path.read_text())


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("asked", SOME)
def test_some_endpoints(asked: tuple, name: str, tmp_path: Path) -> None:
    network, _, kind, root, members = asked
    made = some(*asked)
    path = tmp_path / f"p{FORMATS[name]}"
    assert ct.export_program(made, name, path).layout.roles.members == members
    if kind not in ("gather", "scatter", "broadcast"):
        assert not interpreted(path)
    back = ct.import_program(path, network, root=root)
    assert ct.verify(back).valid
    assert back.collective == made.collective
    options = ["--collective", kind] + ([] if root is None else ["--root", root])
    assert certree("verify", path, "--topology", network, *options, "--members", ",".join(map(str, members))).code == 0
    assert "is among ranks" in certree("verify", path, "--topology", network, *options).err


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize(("network", "method"), [("ring:4", "prepared-paths"), ("switch:4", "direct"), ("mesh:2x3", "flows")])
def test_demands(network: str, method: str, name: str, tmp_path: Path) -> None:
    made = skewed(network, method)
    path = tmp_path / f"p{FORMATS[name]}"
    assert ct.export_program(made, name, path).layout.roles.blocks
    assert not interpreted(path)
    back = ct.import_program(path, network)
    assert ct.verify(back).valid
    shares = [
        [(*block[:2], block[2] * other.granules) for block in demand.blocks]
        for demand, other in ((made.collective.demand, back.collective.demand), (back.collective.demand, made.collective.demand))
    ]
    assert shares[0] == shares[1]


def test_large_chunks_go_in_pieces() -> None:
    """MSCCL's executor takes less than 72 chunks in a step."""
    demand = ct.demand([[0, 16 * 1000, 0], [16, 0, 0], [16 * 71, 16 * 72, 0]], "switch:3")
    made = ct.synthesize("switch:3", ct.collective("alltoallv", demand=demand), method="direct")
    program = lower_to_program(made)
    counts = [step.count for *_, step in program.steps() if step.type.sends]
    assert (max(counts), sum(counts)) == (71, 1000 + 1 + 71 + 72)
    assert verify_program(program).valid


def test_a_rank_without_part_may_add() -> None:
    """The rank forwards a sum; a copy came first."""
    rows = {"step": [0, 1, 2, 2], "op": [Op.COPY, Op.REDUCE, Op.COPY, Op.COPY], "src": [0, 2, 1, 1], "dst": [1, 1, 0, 2]}
    columns = {name: np.array(column, np.int8 if name == "op" else np.int32) for name, column in rows.items()}
    line = ct.collective("all-reduce", members=(0, 2))
    made = make_schedule(ct.topology("mesh:1x3"), line, [-1], columns | {"chunk": np.zeros(4, np.int32)})
    assert ct.verify(made).valid
    assert verify_program(lower_to_program(made)).valid
    assert verify_algorithm(lower_to_algorithm(made, 4096)).valid


def test_another_role_is_wrong(tmp_path: Path) -> None:
    """The data of a program are those of its own members and blocks alone."""
    path = tmp_path / "p.xml"
    ct.export_program(some(*SOME[0]), "msccl-xml", path)
    text = path.read_text()
    for members in ("0,1", "0,1,4", "0,1,2,3,4,5"):
        path.write_text(text.replace('members="0,1,5"', f'members="{members}"'))
        assert not ct.verify(path).valid
        assert interpreted(path)
    ct.export_program(skewed(), "mscclpp", tmp_path / "p.json")
    document = json.loads((tmp_path / "p.json").read_text())
    row = document["gpus"][0]["blocks"]
    one, other = [place for place, size in enumerate(row) if size][:2]
    row[one], row[other] = row[one] + 1, row[other] - 1
    (tmp_path / "p.json").write_text(json.dumps(document))
    assert not ct.verify(tmp_path / "p.json").valid
    assert interpreted(tmp_path / "p.json")


def test_roles_that_do_not_fit(tmp_path: Path) -> None:
    path = tmp_path / "p.xml"
    ct.export_program(some(*SOME[0]), "msccl-xml", path)
    text = path.read_text()
    for members, reason in (
        ("5,1", "members are [5, 1]; expected 2 or more of the ranks 0 to 5, ascending"),
        ("0,6", "members are [0, 6]"),
        ("0", "members are [0]"),
        ("a", "members is 'a'; expected numbers such as 0,2,5"),
    ):
        path.write_text(text.replace('members="0,1,5"', f'members="{members}"'))
        assert_bad_input(certree("verify", path), reason)
    ct.export_program(skewed(), "msccl-xml", tmp_path / "v.xml")
    text = (tmp_path / "v.xml").read_text()
    first = text.split('blocks="')[1].split('"')[0]
    for blocks, reason in (("1,2", "blocks are not 4 rows of 4 numbers"), ("1" + first[1:], "0 for oneself")):
        path.write_text(text.replace(f'blocks="{first}"', f'blocks="{blocks}"', 1))
        assert_bad_input(certree("verify", path), reason)


def test_another_demand_is_refused(tmp_path: Path) -> None:
    demand = "0,640,320,0\n0,0,160,160\n480,0,0,160\n160,160,160,0\n"
    doubled = [",".join(str(2 * int(amount)) for amount in line.split(",")) for line in demand.splitlines()]
    (tmp_path / "right.csv").write_text("\n".join(doubled))
    (tmp_path / "wrong.csv").write_text(demand.replace("640", "320"))
    (tmp_path / "given.csv").write_text(demand)
    made = ct.synthesize("ring:4", ct.collective("alltoallv", demand=ct.demand(tmp_path / "given.csv", "ring:4")), method="flows")
    for name, suffix in FORMATS.items():
        path = tmp_path / f"p{suffix}"
        ct.export_program(made, name, path)
        asked = ("verify", path, "--topology", "ring:4", "--collective", "alltoallv", "--demand")
        assert certree(*asked, tmp_path / "given.csv").code == 0
        assert certree(*asked, tmp_path / "right.csv").code == 0
        assert_bad_input(certree(*asked, tmp_path / "wrong.csv"), "for rank 1; the demand is ")


def test_bytes_of_one_chunk_are_the_same_everywhere() -> None:
    """Traces state the bytes of each message."""
    made = lower_to_algorithm(skewed(), 4096)
    assert verify_algorithm(made).valid
    tags = [act.tag for acts in made.ranks for act in acts if act.type == 5 and any(cell[1] != "i" for cell in act.reads)]
    ranks = tuple(
        tuple(replace(act, bytes=act.bytes + 1) if act.peer >= 0 and act.tag == tags[0] else act for act in acts)
        for acts in made.ranks
    )
    wrong = verify_algorithm(algorithm_of(written_algorithm(replace(made, ranks=ranks)), "here"))
    assert "elsewhere" in wrong.verdict.violations[0].message
