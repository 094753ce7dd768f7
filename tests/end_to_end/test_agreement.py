"""One dispatcher: `compare`, `simulate`, `reproduce`, the gallery and Python say the same of a run, routers included."""

import json

import pytest

from certree.extras.papers.experiments.collectives.all_reduce_runs import run_all_reduce
from certree.extras.papers.gallery import simulation_words
from certree.hw.engines.runs import MODES, Options
from certree.hw.run import run, tables_or_plan
from certree.models.common.errors import UnsupportedError
from certree.models.machine.machine import load_machine
from certree.models.schedule.symmetric.symmetric_file import load_any_schedule
from certree.models.schedule.symmetric.symmetric_schedule import written_out
from tests.cli.running import certree, json_of

SIZE = 1 << 16
#: network, machine, method, and the cycles slotted and paced where they are known from elsewhere; None: cannot be paced
CASES = [
    ("fattree:4x4", "multitree", "multitree", None, 9_027),
    ("fattree:4x4", "multitree", "halving-doubling", None, 10_297),
    ("fattree:4x4", "multitree", "recursive-doubling", None, None),
    ("fattree:2x2", "multitree", "ring", None, None),
    ("bigraph:2x4", "multitree", "hdrm", None, None),
    ("switch:6", "multitree", "double-binary-tree", None, None),
    ("torus:3x3", "multitree", "ring-2d", None, None),
    ("torus:4x4", "booksim2", "multitree", None, None),
    ("mesh:3x3", "multitree", "packing", None, None),
]


@pytest.mark.parametrize(("network", "machine", "method", "slotted", "paced"), CASES)
def test_all_engines_agree(network, machine, method, slotted, paced, tmp_path):
    file, preset = tmp_path / "s.json", load_machine(machine)
    asked = ("--size", str(SIZE), "--params", machine)
    assert certree("synthesize", network, "--method", method, *asked, "-o", file).code == 0
    schedule = written_out(load_any_schedule(file))
    for mode, known in zip(MODES, (slotted, paced), strict=True):
        (cell,) = json_of("compare", network, "--methods", method, *asked, "--simulate", mode)["cells"]
        simulated = certree("simulate", file, *asked, "--run", mode, "--json")
        source = tables_or_plan(schedule, SIZE, preset)
        if cell["simulated_cycles"] is None:
            with pytest.raises(UnsupportedError) as refused:
                run(source, Options(mode=mode))
            assert str(refused.value) == cell["not_simulated"]
            assert cell["not_simulated"] in simulated.err
            continue
        result = run(source, Options(mode=mode))
        assert result.is_exact
        assert known in (None, result.cycles)
        document = simulated.document
        assert (document["cycles"], document["engine"]) == (result.cycles, result.engine)
        assert (cell["simulated_cycles"], cell["engine"], cell["exact"]) == (result.cycles, result.engine, True)
        assert result == run(schedule, Options(mode=mode), message_bytes=SIZE, machine=preset)
        if result.parts == 1:
            assert result.cycles == run(source, Options(mode=mode, engine="flit")).cycles
        arguments = {
            "network": network,
            "methods": (method,),
            "options": {},
            "flow": "message",
            "message_bytes": SIZE,
            "without_routers": False,
        }
        reproduced = run_all_reduce(json.loads(json.dumps(arguments | {"machine": preset.document(), "run": mode})))
        assert (reproduced["run"], reproduced["cycles"]) == (mode, result.cycles)
        if mode == "slotted":
            assert f"Simulated: {result.cycles:,} cycles" in simulation_words(schedule, SIZE, preset)
