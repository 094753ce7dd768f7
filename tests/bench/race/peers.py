"""Runs of other programs, from folders and files that the user names; nothing of them is part of this project."""

import re
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

#: of the processor, for a run
MOST_SECONDS = 120

#: compiled with the sources in TACOS' folder; without latency, so that times are rounds
_TACOS_MAIN = """
#include <cstdio>
#include <cstdlib>
#include <tacos/collective/all_gather.h>
#include <tacos/synthesizer/synthesizer.h>
#include <tacos/topology/torus_2d.h>
#include <tacos/topology/torus_3d.h>
template <typename T> void report(const T& torus) {
  auto synthesizer = tacos::Synthesizer();
  const auto gather = tacos::AllGather(torus.npusCount(), 1);
  std::printf("%.9f\\n", static_cast<double>(synthesizer.solve(torus, gather, 1 << 20)));
}
int main(int count, char** words) {
  const auto side = [&](int place) { return std::atoi(words[place]); };
  if (count == 3) report(tacos::Torus2D(side(1), side(2), 50, 0));
  if (count == 4) report(tacos::Torus3D(side(1), side(2), side(3), 50, 0));
}
"""
_FORESTCOLL_MAIN = """
import itertools, sys
import networkx as nx
sys.path.insert(0, sys.argv[1])
from pipeline_allgather import optimal_pipeline_spanning_trees
sides = [int(word) for word in sys.argv[2:]]
torus = nx.DiGraph()
for place in itertools.product(*map(range, sides)):
    for axis, side in enumerate(sides):
        for step in (-1, 1):
            other = place[:axis] + ((place[axis] + step) % side,) + place[axis + 1:]
            torus.add_edge(place, other, capacity=1)
(time, trees), _ = optimal_pipeline_spanning_trees(torus)
print(time / trees)
"""


class PeerError(Exception):
    """A peer that cannot be run, or ends without a result."""


def tacos(folder: Path, sides: Sequence[int]) -> tuple[float, float]:
    """(rounds, user seconds) of TACOS' all-gather on a torus of two or three dimensions, a chunk an endpoint; PeerError.

    Its program is compiled once, which is not counted.
    """
    said, seconds = _run([str(Path(_compiled(folder).name) / "tacos"), *map(str, sides)])
    unit = (1 << 20) / (50 * (1 << 30)) * 1e6  # µs of a chunk on a link
    return _number(said) / unit, seconds


@cache
def _compiled(folder: Path) -> tempfile.TemporaryDirectory[str]:
    """Where the program of TACOS is, until this process ends."""
    sources = [str(one) for one in sorted((folder / "src").rglob("*.cpp")) if one.name != "main.cpp"]
    if not sources:
        raise PeerError(f"{folder} has no src/*.cpp of TACOS")
    there = tempfile.TemporaryDirectory()
    program, text = Path(there.name) / "tacos", Path(there.name) / "main.cpp"
    text.write_text(_TACOS_MAIN)
    _run(["g++", "-O3", "-std=c++17", f"-I{folder / 'include'}", str(text), *sources, "-o", str(program)])
    return there


def forestcoll(folder: Path, sides: Sequence[int]) -> tuple[float, float]:
    """(rounds for one chunk an endpoint at the rate of its trees, user seconds) of ForestColl on a torus; PeerError."""
    if not (folder / "pipeline_allgather.py").exists():
        raise PeerError(f"{folder} has no pipeline_allgather.py of ForestColl")
    said, seconds = _run([sys.executable, "-c", _FORESTCOLL_MAIN, str(folder), *map(str, sides)])
    return _number(said), seconds


def booksim(program: Path, network: str, side: int, *, flits: int, load: float, cycles: int) -> tuple[float, float]:
    """(mean latency of packets, user seconds) of BookSim2 with uniform traffic on a square mesh or torus; PeerError."""
    words = {"topology": network, "k": side, "n": 2, "use_noc_latency": 0, "traffic": "uniform", "num_vcs": 4, "vc_buf_size": 8}
    words |= {"routing_function": "dim_order", "packet_size": flits, "injection_rate": load / flits, "sim_type": "latency"}
    words |= {"sample_period": cycles // 4, "max_samples": 3, "warmup_periods": 1, "sim_count": 1, "seed": 1}
    with tempfile.TemporaryDirectory() as there:
        config = Path(there) / "config"
        config.write_text("".join(f"{name} = {value};\n" for name, value in words.items()))
        said, seconds = _run([str(program), str(config)], 255)  # its main returns -1 with results, 0 without
    found = re.findall(r"^Packet latency average = (\S+)", said, re.MULTILINE)
    if not found:
        raise PeerError(f"{program} said no latency")
    return _number(found[-1]), seconds


def _number(said: str) -> float:
    """The number that a program said; PeerError for anything else."""
    try:
        return float(said)
    except ValueError:
        raise PeerError(f"no number: {said.strip()[:60]!r}") from None


def _run(command: Sequence[str], code: int = 0) -> tuple[str, float]:
    """What a program says that ends with an exit code, and its user seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    limited = ["bash", "-c", f'ulimit -t {MOST_SECONDS}; exec "$@"', "-", *command]
    done = subprocess.run(limited, capture_output=True, text=True, errors="replace", check=False)
    if -done.returncode in (signal.SIGXCPU, signal.SIGKILL):
        raise PeerError(f"no answer within {MOST_SECONDS} s")
    if done.returncode != code:
        raise PeerError(f"exit code {done.returncode}: {(done.stderr or done.stdout).strip()[-100:]}")
    return done.stdout, resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
