"""Matrices of `nvidia-smi topo -m` as people copy them, and those that contradict themselves."""

import re
from pathlib import Path

import pytest

from certree.models.common.errors import TopologyError
from certree.models.network.spec import parse_topology

TEXT = re.sub(r"\x1b\[[0-9;]*m", "", (Path(__file__).parent / "dgx1.txt").read_text())
GIVEN = "speed=NV:25GB/s,links=nvlink"
TWO = "".join(f"{rule}\nnode-{name}\n{rule}\n{TEXT}" for name, rule in (("a", "-" * 15), ("b", "-" * 15)))
COPIES = {
    "utf-16": TEXT.encode("utf-16"),
    "utf-16 without mark": TEXT.encode("utf-16-le"),
    "carriage returns": TEXT.replace("\n", "\r\n").encode(),
    "quoted": "".join(f"> {line}\n" for line in TEXT.splitlines()).encode(),
    "blanks": TEXT.expandtabs(8).encode(),
    "prompt": f"[user@node-7 ~]$ nvidia-smi topo -m\n{TEXT}[user@node-7 ~]$ exit\n".encode(),
    "parallel shell": "".join(f"node-a: {line}\n" for line in TEXT.splitlines()).encode(),
    "late in a log": ("a line of a log\n" * 2000 + TEXT).encode(),
    "lost escapes": ("[4m" + TEXT.replace("\n", "[0m\n", 1)).encode(),
    "shown escapes": ("^[[4m" + TEXT.replace("\n", "^[[0m\n", 1)).encode(),
    "glued": TEXT.replace("NIC3\tCPU", "NIC3CPU").encode(),
    "other names": re.sub(r"\bNIC([0-9])\b", r"bnxt_re\1", TEXT).encode(),
    "old level": TEXT.replace("SYS", "SOC").encode(),
}


@pytest.mark.parametrize("how", COPIES)
def test_copies(tmp_path: Path, how: str) -> None:
    right, copied = tmp_path / "right.txt", tmp_path / "copied"
    right.write_text(TEXT)
    copied.write_bytes(COPIES[how])
    assert parse_topology(f"{copied},{GIVEN}").digest == parse_topology(f"{right},{GIVEN}").digest


def test_hosts_are_chosen(tmp_path: Path) -> None:
    (tmp_path / "two").write_text(TWO)
    with pytest.raises(TopologyError, match=r"2 matrices, of node-a, node-b; a box is one host; give host=node-a or host=node-b"):
        parse_topology(f"{tmp_path / 'two'},{GIVEN}")
    with pytest.raises(TopologyError, match="host=node-c is not in it"):
        parse_topology(f"{tmp_path / 'two'},{GIVEN},host=node-c")
    assert "took: host node-b of 2" in parse_topology(f"{tmp_path / 'two'},{GIVEN},host=node-b").notes


def even(gpus: int, count: int, **changed: str) -> str:
    """A matrix in which all GPUs show the same number of NVLinks, with some entries changed in both directions: g0_3="SYS"."""
    names = [f"GPU{gpu}" for gpu in range(gpus)]
    cells = {(a, b): "X" if a == b else f"NV{count}" for a in range(gpus) for b in range(gpus)}
    for pair, cell in changed.items():
        a, b = map(int, pair[1:].split("_"))
        cells |= {(a, b): cell, (b, a): cell}
    return "\n".join([" ".join(names), *(" ".join([names[a], *(cells[a, b] for b in range(gpus))]) for a in range(gpus))]) + "\n"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (even(8, 18), "whether NVLinks are direct: every two GPUs show 18 NVLinks"),
        (even(8, 18, g0_3="NV14"), "GPU0 to GPU3 is NV14, but GPU0 shows 18 NVLinks to others, in all more than the 18 of a GPU"),
        (even(8, 18, g0_3="SYS"), "GPU0 to GPU3 is SYS, but GPU0 shows 18 NVLinks to others, in all more than the 18 of a GPU"),
        (even(4, 18, g0_3="NV9", g1_3="NV9", g2_3="NV9"), "GPU3 shows 9 NVLinks, the others up to 18; give nvlinks=degraded"),
        (even(4, 6, g0_3="SYS", g1_3="SYS", g2_3="SYS"), "GPU3 shows 0 NVLinks, the others up to 6; give nvlinks=degraded"),
        (even(3, 6, g0_1="PIX", g1_2="PIX", g0_2="SYS"), "GPU0 to GPU2 is SYS, but GPU0 to GPU1 is PIX and GPU1 to GPU2 is PIX"),
        (even(3, 6).replace("GPU2 NV6 NV6 X\n", ""), "line 1: 0 entries for GPU2; expected 3"),
        (even(3, 6).replace("GPU2 NV6", "GPU3 NV6"), "line 4: a row of 'GPU3', which is not in the header of line 1"),
        (even(3, 6).replace("GPU0 GPU1 GPU2\n", "GPU0 GPU1\n"), "line 4: a row of 'GPU2', which is not in the header"),
        (even(3, 6) + "GPU0 X NV6 NV6\n", "line 5: GPU0 has two rows, the first in line 2"),
        ("GPU0 GPU1 nic\nGPU0 X NV1 NV1\nGPU1 NV1 X PIX\nnic NV1 PIX X\n", "GPU0 to nic is NV1, but only GPUs have NVLinks"),
        ("GPU0 GPU1CPU Affinity\nGPU0 X NV120-3\nGPU1 NV2 X0-3\n", "GPU0 to GPU1 is 'NV120-3', glued to the next column, and GPU1"),
    ],
)  # fmt: skip
def test_contradictions_name_the_entry(tmp_path: Path, text: str, reason: str) -> None:
    (tmp_path / "topo.txt").write_text(text)
    with pytest.raises(TopologyError) as caught:
        parse_topology(f"{tmp_path / 'topo.txt'},speed=NV:25GB/s")
    assert reason in str(caught.value)


def test_switches_of_which_a_gpu_reaches_fewer(tmp_path: Path) -> None:
    (tmp_path / "topo.txt").write_text(even(4, 18, g0_3="NV9", g1_3="NV9", g2_3="NV9"))
    found = parse_topology(f"{tmp_path / 'topo.txt'},speed=NV:25GB/s,nvlinks=degraded")
    assert found.capacity[found.dst == 4].tolist() == [18, 18, 18, 9]


def test_rows_that_are_glued(tmp_path: Path) -> None:
    """What follows the row of the last GPU tells entries from the column next to them."""
    (tmp_path / "topo.txt").write_text("GPU0 GPU1 GPU2CPU\nGPU0 X NV2 NV120-3\nGPU1 NV2 X NV120-3\nGPU2 NV12 NV12 X0-3\n")
    found = parse_topology(f"{tmp_path / 'topo.txt'},speed=NV:25GB/s")
    assert sorted(found.capacity.tolist()) == [2, 2, 12, 12, 12, 12]
