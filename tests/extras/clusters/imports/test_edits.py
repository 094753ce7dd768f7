"""Edits of what a file states: another network, or one line of refusal; never the same network, and never anything else."""

import re
from pathlib import Path
from random import Random

import pytest

from certree.models.common.errors import InputError
from certree.models.network.network_files import Given
from tests.networks import load_topology

FILES = Path(__file__).parent / "files"
EDITS = 200
_WORD = re.compile(r"[A-Za-z0-9_.]+")

#: file -> options, and what in it has no meaning for the network
SUBJECTS = {
    "../dgx1.txt": (
        "speed=NV:25GB/s;speed=PIX:12GB/s;speed=PHB:11GB/s;speed=SYS:9GB/s",
        r"[0-9]+-[0-9]+,.*|CPU.*|Legend(?s:.*)|4m|0m",
    ),
    "showtopo.txt": ("speed=XGMI:50GB/s", r"=.*|.*\(Topology\).*"),
    "showtopo.json": ("speed=XGMI:50GB/s", r'"card[0-9]".*|"system"|Hops[a-zA-Z ]*(0 and 2|1 and 3)": "1"'),
    "amd-topology.txt": ("speed=PCIE:32GB/s", r"ACCESS(?s:.*?)\n\n|Legend(?s:.*)"),
    "amd-topology.json": ("", r'"bdf": .*|"link_status".*'),
    "cloud.xml": ("speed=SYS:20GB/s;nvlinks=none", r"<!--.*|arch=\S+|numaid=\S+|version=\S+|system|busid=\S+|class=\S+"),
    "grace.xml": (
        "speed=SYS:20GB/s;speed=NV:25GB/s;host=0x1",
        r"arch=\S+|sm=\S+|gdr=\S+|version=\S+|numaid=\S+|rank=\S+|busid=\S+|dev=\S+|class=\S+|<cpu host_hash=.0x2(?s:.*)",
    ),
    "hidden.xml": (
        "nvlinks=none;speed=PCIE:1GB/s;speed=SYS:1GB/s",
        r"<nvlink.*|sm=.*|version=\S+|numaid=\S+|link_\S+|busid=\S+|class=\S+|dev=\S+",
    ),
    "fabric.ibnet": (
        "",
        r"#.*generated.*|#.*Initiated.*|\w+=\S+|\([0-9a-f]+\)|lid [0-9]+ lmc 0( \".*\" lid [0-9]+)?|enhanced port 0"
        r"|\] # .*\" lid [0-9]+|# \".*\" lid \S+|^(Ca|Switch)\t[0-9]+|.*Aggregation.*",
    ),
    "ports.ibnet": ("", r"^SW +4 (19|20).*|^\w+ +[0-9]+|- \w+ +[0-9]+"),
    "topology.conf": ("speed=LINK:10GB/s", r"#.*|LinkSpeed=\S+"),
    "blocks.conf": ("speed=LINK:10GB/s;speed=UPLINK:30GB/s", r"#.*|BlockSizes=[0-9,]+$"),
    "topology.yaml": ("speed=LINK:10GB/s", r"topo1|^  tree:|switches:|topology: topo2(?s:.*)"),
    "grid.yml": ("", r"#.*"),
    "lists.yml": ("", r"#.*"),
    "anynet.txt": ("", r"$^"),
    "torus.cfg": ("", r"//.*|routing_function.*"),
    "pods.topo": ("", r"#.*"),
    "leaves.topo": ("", r"#.*"),
    "physical.txt": ("", r" 0$"),
    "simai.txt": ("", r" 0$|^7 2|H100"),
    "taccl.json": ("assume=dgx1", r'"name": .*|"alpha.*|"nics.*|"remote.*|"node_betas_list": .*'),
    "machine.xml": (
        "speed=SYS:20GB/s;speed=NET:25GB/s;boxes=2;fabric=switch",
        r"^((?!PCIDev|u64).)*$|.*0108.*|length=\S+|gp_index=\"16\"|pci_busid=\S+|\[[0-9a-f:]+\]|>0 100|100000 0 ?<|50000 0 <",
    ),
    "one-gpu.xml": (
        f"fabric={FILES / 'fabric.ibnet'};hosts=node-*;nics=mlx5_0",
        r"arch=\S+|sm=\S+|gdr=\S+|version=\S+|numaid=\S+|rank=\S+|class=\S+|dev=\S+|port=\S+|<pci busid=.0000:04.*|busid=\S+",
    ),
    "edges.csv": ("switches=leaf*", r"#.*"),
    "directed.csv": ("", r"$^"),
}


def edited(text: str, ignored: str, rng: Random) -> tuple[str, str]:
    """The text with one word changed, and what was done. Words that match `ignored` stay."""
    spans = [found.span() for found in re.finditer(ignored, text, re.MULTILINE)]
    words = [one for one in _WORD.finditer(text) if not any(low <= one.start() < high for low, high in spans)]
    word = rng.choice(words)
    changes = [f"{word[0]}1", "", f"{word[0]} {word[0]}", f"{word[0]}x", word[0][:-1] + chr(ord(word[0][-1]) ^ 1)]
    if word[0].isdigit():
        changes += [str(int(word[0]) + 1), str(2 * int(word[0]) + 3), "0", "-1", "99999999999"]
    change = rng.choice([one for one in changes if one != word[0]])
    return text[: word.start()] + change + text[word.end() :], f"{word[0]!r} at {word.start()} became {change!r}"


def reading(file: Path, given: Given) -> tuple[object, ...] | str:
    """All that a file says of a network, or the error."""
    try:
        network = load_topology(file, given)
    except InputError as error:
        return str(error)
    return network.digest, network.bandwidth, network.clock, network.labels


@pytest.mark.parametrize("name", SUBJECTS)
def test_no_edit_is_overlooked(tmp_path: Path, name: str) -> None:
    options, ignored = SUBJECTS[name]
    given = [(one.partition("=")[0], one.partition("=")[2]) for one in options.split(";") if one]
    file, text, rng = tmp_path / Path(name).name, (FILES / name).read_text(), Random(name)
    file.write_text(text)
    right, refused = reading(file, given), 0
    assert not isinstance(right, str)
    for _ in range(EDITS):
        wrong, what = edited(text, ignored, rng)
        file.write_text(wrong)
        came = reading(file, given)
        assert came != right, what
        if isinstance(came, str):
            refused += 1
            assert "\n" not in came, what
    assert refused > EDITS // 10
